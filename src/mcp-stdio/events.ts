/** Yields the data of each server-sent event; ignores other fields. WHATWG HTML 9.2.6. */
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
 * Yields lines that end with LF; the last may lack it. Not readline, which also splits at U+2028, allowed inside JSON.
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
