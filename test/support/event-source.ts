/** Reads a stream of server-sent events as the HTML standard says. */
export class EventReader implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #abort: AbortController;
  #text = '';
  ended = false;

  private constructor(reader: ReadableStreamDefaultReader<string>, abort: AbortController) {
    this.#reader = reader;
    this.#abort = abort;
  }

  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const abort = new AbortController();
    const answer = await fetch(url, { headers, signal: abort.signal });
    if (answer.status !== 200 || answer.body === null) throw new Error(`${answer.status} ${await answer.text()}`);
    return new EventReader(answer.body.pipeThrough(new TextDecoderStream()).getReader(), abort);
  }

  /** The next event; undefined at the end of the stream. Comments are skipped. */
  async next(): Promise<{ event: string; id?: string; data: unknown } | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const fields = new Map(block.split('\n').flatMap((line) => (line.startsWith(':') ? [] : [split(line)])));
        const data = fields.get('data');
        if (data === undefined) continue;
        const id = fields.get('id');
        return { event: fields.get('event') ?? 'message', ...(id !== undefined && { id }), data: JSON.parse(data) };
      }
      const { value, done } = await this.#reader.read();
      if (done) {
        this.ended = true;
        return undefined;
      }
      this.#text += value;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    return Promise.resolve();
  }
}

function split(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}
