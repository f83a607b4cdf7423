import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MailboxReader } from './mailbox-reader.ts';
import type { Box } from './box.ts';
import { newOrganization, tool } from './mcp.ts';

/** The login data of one mailbox. */
export interface MailboxLogin {
  address: string;
  password: string;
  /** Bearer token for JMAP. */
  jmap: string;
  /** Account id in JMAP. */
  account: string;
}

/** An organization with one mailbox on a box whose limits do not count this machine. */
export class LoadTenant {
  readonly box: Box;
  readonly token: string;
  readonly mailbox: MailboxLogin;
  /** Further tokens: limits of one credential are not those of a tenant. */
  readonly tokens: readonly string[];
  #sessions = 0;

  private constructor(box: Box, mailbox: MailboxLogin, [token = '', ...tokens]: readonly string[]) {
    this.box = box;
    this.token = token;
    this.tokens = tokens;
    this.mailbox = mailbox;
  }

  /** Makes the organization with `tokens` further tokens. */
  static async create(box: Box, name: string, tokens = 0): Promise<LoadTenant> {
    const base = `http://127.0.0.1:${box.port('http')}`;
    const { token } = await newOrganization(base, name);
    const ask = async (operation: string, args: object): Promise<Record<string, unknown>> => {
      const { status, body, text } = await tool(base, operation, args, token);
      if (status >= 300) throw new Error(`${operation}: ${text}`);
      return body;
    };
    const domain = `${name}.test`;
    await ask('add_email_domain', { domain });
    await ask('verify_email_domain', { domain });
    await ask('provision_email', { domain, localPart: 'anna' });
    const address = `anna@${domain}`;
    const shown = (await ask('reveal_email_credentials', { address })) as {
      imap: { password: string };
      jmap: { token: string };
    };
    const session = await fetch(`${base}/jmap/session`, { headers: { authorization: `Bearer ${shown.jmap.token}` } });
    const { primaryAccounts } = (await session.json()) as { primaryAccounts: Record<string, string> };
    const account = primaryAccounts['urn:ietf:params:jmap:mail'] ?? '';
    const all = [token];
    for (let i = 0; i < tokens; i++) {
      const made = await ask('create_agent_token', { name: `token ${i}`, actions: ['mail_read', 'send', 'manage'] });
      all.push(String(made['secret']));
    }
    const mailbox = { address, password: shown.imap.password, jmap: shown.jmap.token, account };
    return new LoadTenant(box, mailbox, all);
  }

  get #login(): string {
    return `a LOGIN ${this.mailbox.address} ${this.mailbox.password}\r\n`;
  }

  imap(): Promise<MailboxReader> {
    return MailboxReader.open(this.box.port('imap'), this.mailbox.address, this.mailbox.password);
  }

  /** Fills the mailbox: folders, a mail of many parts, long texts, and one word again and again. */
  async fill(folders: number): Promise<void> {
    const [one, two] = [await this.imap(), await this.imap()];
    const create = async (imap: MailboxReader, from: number): Promise<void> => {
      for (let i = from; i < folders; i += 2) await imap.command(`CREATE ${'f'.repeat(100)}${i}`);
    };
    await Promise.all([create(one, 0), create(two, 1)]);
    await one.append('INBOX', Buffer.from(manyParts(990)));
    // Each octet takes six in JSON.
    for (let i = 0; i < 12; i++) await one.append('INBOX', Buffer.from(plainMail('\u0001'.repeat(70), 14_000)));
    for (let i = 0; i < 4; i++) await one.append('INBOX', Buffer.from(plainMail('word '.repeat(14), 4_000)));
    for (const imap of [one, two]) imap[Symbol.dispose]();
  }

  /** The next token in turn. */
  get #nextToken(): string {
    return this.tokens[this.#sessions++ % this.tokens.length] ?? this.token;
  }

  /** Sends IMAP commands after the login and reads nothing. */
  unreadImap(commands: readonly string[]): Promise<Socket> {
    return unread(this.box.port('imap'), this.#login + commands.map((one, i) => `b${i} ${one}\r\n`).join(''));
  }

  /** Sends a JMAP request and does not read the response. */
  unreadJmap(calls: readonly unknown[]): Promise<Socket> {
    return this.unreadHttp('POST /jmap/api', jmapRequest(calls));
  }

  /** Sends a request and does not read the response. */
  unreadHttp(line: string, body = '', headers = ''): Promise<Socket> {
    return unread(this.box.port('http'), httpRequest(line, this.#nextToken, body, headers));
  }

  /** Opens a WebSocket of JMAP, sends requests and reads nothing. */
  unreadWebSocket(requests: readonly string[]): Promise<Socket> {
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: jmap\r\n' +
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n`;
    const head = httpHead('GET /jmap/ws', this.#nextToken, upgrade);
    return unread(this.box.port('http'), Buffer.concat([Buffer.from(head), ...requests.map(frame)]));
  }

  /** Begins an upload, and never ends it. */
  endlessUpload(octets: number): Promise<Socket> {
    const headers = 'Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n';
    const head = httpHead(`POST /jmap/upload/${this.mailbox.account}`, this.#nextToken, headers);
    return unread(this.box.port('http'), `${head}${octets.toString(16)}\r\n${'u'.repeat(octets)}\r\n`);
  }

  /** Begins a message over SMTP, with this header, and never ends it. */
  endlessMail(octets: number): Promise<Socket> {
    const text = `Subject: x\r\n${`X-Long: ${'y'.repeat(900)}\r\n`.repeat(octets / 910)}`;
    return unread(
      this.box.port('smtp'),
      `EHLO load.test\r\nMAIL FROM:<x@load.test>\r\nRCPT TO:<${this.mailbox.address}>\r\nDATA\r\n${text}`,
    );
  }
}

/** A JMAP request body. */
export function jmapRequest(calls: readonly unknown[], more: object = {}): string {
  const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
  return JSON.stringify({ using, methodCalls: calls, ...more });
}

function httpHead(line: string, token: string, headers: string): string {
  return `${line} HTTP/1.1\r\nHost: box.test\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`;
}

function httpRequest(line: string, token: string, body: string, headers = ''): string {
  const octets = Buffer.byteLength(body);
  return httpHead(line, token, `Content-Type: application/json\r\nContent-Length: ${octets}\r\n${headers}`) + body;
}

/** A text frame of a client. RFC 6455 5.2. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(14);
  head.writeUInt16BE(0x81ff);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

let connections = 0;

/** Connects from one of many addresses, writes, and reads nothing. Resolves when connected. */
async function unread(port: number, text: string | Buffer): Promise<Socket> {
  const localAddress = `127.9.${connections++ % 100}.1`;
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  socket.on('error', () => undefined);
  socket.pause();
  await once(socket, 'connect').catch(() => undefined);
  socket.write(text);
  return socket;
}

function manyParts(count: number): string {
  const part = `--b\r\nContent-Type: text/html; charset=utf-7\r\n\r\n${'<i>+AGE-</i> '.repeat(8)}\r\n`;
  return `${header('multipart/mixed; boundary=b')}${part.repeat(count)}--b--\r\n`;
}

function plainMail(line: string, lines: number): string {
  return `${header('text/plain; charset=utf-8')}${`${line}\r\n`.repeat(lines)}`;
}

function header(type: string): string {
  return `From: a@load.test\r\nSubject: word\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n`;
}
