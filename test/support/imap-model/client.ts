import type { ImapClient, ImapWorld } from '../imap-world.ts';
import { PASSWORD, USER } from '../imap-world.ts';

/** Time after which a response that must come is missing, ms. */
const PATIENCE_MS = 20_000;

/** Takes a response line. `noExpunge`: RFC 9051 7.5.1 forbids an EXPUNGE now. */
export type TakeLine = (line: string, noExpunge: boolean) => void;

/** The connection of one client of the model, with a log of what was said. */
export class ModelClient {
  readonly #world: ImapWorld;
  readonly #take: TakeLine;
  #client: ImapClient | undefined;
  #tag = 0;
  readonly log: string[] = [];

  constructor(world: ImapWorld, take: TakeLine) {
    this.#world = world;
    this.#take = take;
  }

  get connected(): boolean {
    return this.#client !== undefined;
  }

  async connect({ compress }: { compress: boolean }): Promise<void> {
    this.#client = await this.#world.connect();
    await this.command(`LOGIN ${USER} ${PASSWORD}`);
    if (!compress) return;
    await this.command('COMPRESS DEFLATE');
    this.#client.compress();
  }

  cut(): void {
    this.#client?.socket.destroy();
    this.#client = undefined;
  }

  /** Reads up to the end of the connection, which has to say BYE with this response code. */
  async expectBye(code: string): Promise<void> {
    let last = '';
    for (let line = await this.#next(); line !== undefined; line = await this.#next()) {
      last = line;
      if (!line.startsWith('* BYE')) this.#take(line, false);
    }
    if (!last.startsWith(`* BYE [${code}]`)) throw new Error(`${last} and not BYE [${code}]`);
    this.cut();
  }

  /** Runs a command and takes its responses. `refusal`: the response code of the NO that must come. */
  async command(
    text: string,
    {
      noExpunge = /^(?:FETCH|STORE|SEARCH)/.test(text),
      refusal,
    }: { noExpunge?: boolean; refusal?: string | undefined } = {},
  ): Promise<string[]> {
    const tag = this.#begin(text);
    this.#send('\r\n');
    return this.#end(tag, text, noExpunge, refusal);
  }

  /** Begins a command whose last argument is a literal, and waits for the continuation request. */
  async beginLiteral(head: string, literal: string): Promise<string> {
    const tag = this.#begin(`${head} {${literal.length}}`);
    this.#send('\r\n');
    for (let line = await this.#line(); !line.startsWith('+'); line = await this.#line()) this.#take(line, false);
    return tag;
  }

  /** Sends the literal of a command, and takes its responses. `refusal`: as of {@link command}. */
  endLiteral(tag: string, literal: string, refusal: string | undefined): Promise<string[]> {
    this.#send(`${literal}\r\n`);
    return this.#end(tag, 'the literal', false, refusal);
  }

  #begin(text: string): string {
    this.#tag += 1;
    const tag = `t${this.#tag}`;
    this.log.push(`C: ${tag} ${text.replaceAll('\r\n', '|')}`);
    this.#send(`${tag} ${text}`);
    return tag;
  }

  async #end(tag: string, text: string, noExpunge: boolean, refusal: string | undefined): Promise<string[]> {
    const lines: string[] = [];
    for (;;) {
      const line = await this.#line();
      lines.push(line);
      this.#take(line, noExpunge);
      if (!line.startsWith(`${tag} `)) continue;
      const expected = refusal === undefined ? `${tag} OK` : `${tag} NO [${refusal}`;
      if (!line.startsWith(expected)) throw new Error(`${text}: ${line} and not ${expected}`);
      if (this.log.length > 400) this.log.splice(0, 200);
      return lines;
    }
  }

  async idle(): Promise<void> {
    this.log.push('C: IDLE');
    this.#send('idle IDLE\r\n');
    let line = await this.#line();
    for (; line !== '+ idling'; line = await this.#line()) this.#take(line, false);
    this.#send('DONE\r\n');
    for (line = await this.#line(); !line.startsWith('idle '); line = await this.#line()) this.#take(line, false);
  }

  #send(text: string): void {
    this.#client?.send(text);
  }

  async #line(): Promise<string> {
    const line = await this.#next();
    if (line === undefined) throw new Error('the server closed the connection');
    return line;
  }

  /** The next line; undefined: the connection is closed. A line that never comes is an error. */
  async #next(): Promise<string | undefined> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('the server says nothing')), PATIENCE_MS);
    try {
      const line = await Promise.race([this.#client?.line(), late.promise]);
      this.log.push(`S: ${line}`);
      return line;
    } finally {
      clearTimeout(timer);
    }
  }
}
