/** Reads the elements of one name in an XML text by their attributes, with their lines. Comments are no elements. */
import sax from 'sax';

export interface AttributeSink {
  record(cells: ReadonlyMap<string, string>, line: number): void;
  /** Refuses a line after which nothing is read. */
  damaged(line: number, reason: string): void;
}

const pieceLength = 65_536;
const depthMax = 64;

/**
 * Passes the elements whose names, with those around them, end with `path`. Names are in lower case. A damaged text
 * yields the elements before the damage.
 */
export function readXml(text: string, path: readonly string[], sink: AttributeSink): void {
  const parser = sax.parser(true, { position: true });
  const names: string[] = [];
  let isDamaged = false;
  const damage = () => {
    if (!isDamaged) sink.damaged(parser.line + 1, 'the XML is damaged here, so that nothing from here on can be read');
    isDamaged = true;
  };
  parser.onerror = damage;
  parser.onopentag = ({ name, attributes }) => {
    if (isDamaged) return;
    names.push(name.toLowerCase());
    if (names.length > depthMax) damage();
    else if (names.length >= path.length && path.every((one, at) => one === names[names.length - path.length + at])) {
      const cells = Object.entries(attributes).map(([key, value]) => [key.toLowerCase(), String(value)] as const);
      sink.record(new Map(cells), parser.line + 1);
    }
  };
  parser.onclosetag = () => {
    names.pop();
  };
  for (let at = 0; at < text.length && !isDamaged; at += pieceLength) parser.write(text.slice(at, at + pieceLength));
  if (!isDamaged) parser.close();
}
