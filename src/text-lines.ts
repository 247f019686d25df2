/** Splits text that comes in chunks into lines. */

/** Calls `use` with each line that has ended. Resolves to the text after the last of them. */
export async function eachLine(chunks: AsyncIterable<string>, use: (line: string) => void): Promise<string> {
  let rest = '';
  for await (const chunk of chunks) {
    // Only the chunk is split: a long line would be copied with each of its chunks.
    const [first = '', ...more] = chunk.split('\n');
    const lines = [rest + first, ...more];
    rest = lines.pop() ?? '';
    lines.forEach(use);
  }
  return rest;
}
