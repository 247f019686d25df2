/** Reads the elements of one name in an XML text by their attributes, with their lines. Comments are no elements. */
import sax from 'sax';
import { bounds } from '../../../client/for-peer.js';
import { type RecordSink, takeCells } from './records.js';

const pieceLength = 65_536;

/** Passes the elements at the end of `path`. Returns false if an intact text has neither them nor their parent. */
export function readXml(text: string, path: readonly string[], sink: RecordSink): boolean {
  const parser = sax.parser(true, { position: true });
  const names: string[] = [];
  const isAt = (wanted: readonly string[]) => wanted.every((one, at) => one === names.at(at - wanted.length));
  let isFound = path.length === 0;
  let hasRoot = false;
  let isDamaged = false;
  const damage = () => {
    if (!isDamaged) sink.damaged(parser.line + 1, 'the XML is damaged here, so that nothing from here on can be read');
    isDamaged = true;
  };
  parser.onerror = damage;
  parser.onopentag = ({ name, attributes }) => {
    if (isDamaged) return;
    hasRoot = true;
    names.push(name.toLowerCase());
    if (path.length > 1) isFound ||= isAt(path.slice(0, -1));
    if (names.length > bounds.listDepth) return damage();
    const isBeside = path.length > 1 && !isAt(path) && isAt([...path.slice(0, -1), name.toLowerCase()]);
    if (isBeside) sink.refuse(parser.line + 1, `the element is not one of ${path.at(-1)}`);
    if (!isAt(path)) return;
    isFound = true;
    const cells = Object.entries(attributes).map(([key, value]) => [key.toLowerCase(), String(value)] as const);
    takeCells(new Map(cells), parser.line + 1, sink);
  };
  parser.onattribute = () => parser.position - parser.startTagPosition > bounds.listCell && damage();
  parser.onclosetag = () => void names.pop();
  for (let at = 0; at < text.length && !isDamaged; at += pieceLength) parser.write(text.slice(at, at + pieceLength));
  if (!isDamaged) parser.close();
  if (!hasRoot || names.length > 0) damage();
  return isFound || isDamaged;
}
