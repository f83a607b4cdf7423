/** The data of each event of a stream, as it comes. WHATWG HTML 9.2.6; other fields are of no use here. */
export async function* eventData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of lines(chunks)) {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (text.startsWith('data:')) data.push(text.slice(text.startsWith('data: ') ? 6 : 5));
    if (text !== '' || data.length === 0) continue;
    yield data.join('\n');
    data = [];
  }
}

/**
 * Lines that end with LF, whatever pieces they come in; the last one may lack its end. Not by readline: it also breaks
 * at U+2028, which JSON has inside its texts.
 */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
