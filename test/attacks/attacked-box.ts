import { createTransport } from 'nodemailer';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { http } from '../support/mcp.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';
import { type Attack, ATTACKER } from './attack.ts';
import { contentOf, type ReceivedContent } from './received.ts';

export const ME = 'me@home.example';
export const PASSWORD = 'correct-horse-battery-7731';

/** A box whose owner has claimed it, with a mailbox in which agents work; all mail that leaves ends at a sink here. */
export class AttackedBox implements AsyncDisposable {
  readonly box: Box;
  readonly #dns: DnsServer;
  readonly #sink: ScriptedServer;
  #minted = 0;

  private constructor(box: Box, dns: DnsServer, sink: ScriptedServer) {
    this.box = box;
    this.#dns = dns;
    this.#sink = sink;
  }

  static async open(): Promise<AttackedBox> {
    const sink = await scriptedServer();
    const dns = await dnsServer({
      'TXT evil.example': ['v=spf1 ip4:127.0.0.0/8 -all'],
      'TXT _dmarc.evil.example': ['v=DMARC1; p=reject'],
      ...Object.fromEntries(['evil', 'loot', 'forged'].map((name) => [`MX ${name}.example`, ['10 mx.sink.example']])),
      'A mx.sink.example': ['127.0.0.1'],
    });
    const settings = {
      RESOLVERS: dns.address,
      OUTBOUND_PORT: String(sink.port),
      EXEMPT_NETWORKS: '127.0.0.0/8',
      MAILBOX_DAILY: '0',
      LOG_LEVEL: 'debug',
    };
    const opened = new AttackedBox(await startBox({ hostname: 'mail.home.example', settings }), dns, sink);
    await opened.#createServices();
    return opened;
  }

  get base(): string {
    return `http://127.0.0.1:${this.box.port('http')}`;
  }

  /** Everybody to whom mail went out. */
  get reached(): string[] {
    return [...new Set(this.#sink.mails.flatMap(({ to }) => to))];
  }

  /** All octets that went out. */
  get left(): string {
    return this.#sink.mails.map(({ raw }) => raw.toString('latin1')).join('\n');
  }

  /** All names that were looked up. */
  get lookedUp(): string[] {
    return this.#dns.queried;
  }

  /** Waits for a mail with this text. */
  async arrived(text: string): Promise<void> {
    while (!this.left.includes(text)) await this.#sink.received(this.#sink.mails.length + 1);
  }

  /** Waits for the mail with this in its text. */
  async received(text: string): Promise<ReceivedContent> {
    for (;;) {
      const count = this.#sink.mails.length;
      const found = this.#sink.mails.map(({ raw }) => contentOf(raw)).find((one) => one.text.includes(text));
      if (found !== undefined) return found;
      await this.#sink.received(count + 1);
    }
  }

  /** A token that may all that tokens of agents may, under a policy where one is named. */
  async mint(preset?: 'custom' | 'support-desk' | 'signup-bot', more: object = {}): Promise<string> {
    const made = (await this.box.ask('create_agent_token', {
      name: `agent ${++this.#minted}`,
      actions: ['read', 'manage'],
      ...more,
    })) as { secret: string; token: { id: string } };
    if (preset !== undefined) {
      const name = `policy ${this.#minted}`;
      await this.box.ask('save_agent_policy', { tokenId: made.token.id, preset, name });
    }
    return made.secret;
  }

  /** Delivers mails by SMTP, all as their attacker. */
  async deliver(attacks: readonly Attack[]): Promise<void> {
    const smtp = createTransport({
      host: '127.0.0.1',
      port: this.box.port('smtp'),
      secure: false,
      ignoreTLS: true,
      pool: true,
      maxConnections: 2,
    });
    try {
      await Promise.all(
        attacks.map(({ mail }) => smtp.sendMail({ to: ME, envelope: { from: ATTACKER, to: ME }, ...mail })),
      );
    } finally {
      smtp.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of [this.box, this.#dns, this.#sink]) await one[Symbol.asyncDispose]();
  }

  async #createServices(): Promise<void> {
    const link = /\/auth\/setup\?token=([\w-]+)/.exec(this.box.printed.join('\n'));
    const claim = { token: link?.[1], password: 'a calculus of logic', email: 'ada@people.example' };
    const json = { 'content-type': 'application/json' };
    const said = await http('POST', `${this.base}/api/auth/claim`, json, JSON.stringify(claim));
    if (said.status !== 200) throw new Error(said.text);
    await this.box.ask('add_domain', { domain: 'home.example' });
    await this.box.ask('add_mailbox', { address: ME, password: PASSWORD });
  }
}
