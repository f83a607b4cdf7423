import { type FetchMessageObject, ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import type { Box } from '../box.ts';
import type { Endpoint, Letter, Read, Role, Shown, Way } from './endpoint.ts';

const FLAGS = { seen: String.raw`\Seen`, flagged: String.raw`\Flagged`, answered: String.raw`\Answered` } as const;
const DRAFT = String.raw`\Draft`;

/** IMAP for what lies in the mailbox, submission for what leaves it. */
export const overImap: Way = {
  name: 'IMAP',
  async open(box, user, pass) {
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: box.port('imaps'),
      secure: true,
      auth: { user, pass },
      tls: { rejectUnauthorized: false },
      logger: false,
    });
    await client.connect();
    return new ImapEndpoint(client, box, user, pass, await pathsOf(client));
  },
};

/** The paths of mailboxes by their special use. RFC 6154. */
async function pathsOf(client: ImapFlow): Promise<Map<Role, string>> {
  const all = await client.list();
  const path = (use: string): string => all.find((one) => one.specialUse === use)?.path ?? '';
  return new Map([
    ['inbox', 'INBOX'],
    ['drafts', path(String.raw`\Drafts`)],
    ['sent', path(String.raw`\Sent`)],
    ['trash', path(String.raw`\Trash`)],
    ['archive', path(String.raw`\Archive`)],
  ]);
}

class ImapEndpoint implements Endpoint {
  readonly #client: ImapFlow;
  readonly #box: Box;
  readonly #user: string;
  readonly #password: string;
  readonly #paths: ReadonlyMap<Role, string>;

  constructor(client: ImapFlow, box: Box, user: string, password: string, paths: ReadonlyMap<Role, string>) {
    this.#client = client;
    this.#box = box;
    this.#user = user;
    this.#password = password;
    this.#paths = paths;
  }

  async list(role: Role): Promise<Shown[]> {
    return (await this.#all(role)).map(shown).reverse();
  }

  async read(role: Role, subject: string): Promise<Read> {
    const uid = await this.#uid(role, subject);
    const found = await this.#client.fetchOne(uid, { envelope: true, bodyStructure: true }, { uid: true });
    if (found === false || found === undefined) throw new Error(`no ${subject}`);
    const parts = (found.bodyStructure?.childNodes ?? [found.bodyStructure]).filter((one) => one !== undefined);
    const attached = parts.filter((one) => one.disposition === 'attachment');
    const text = parts.find((one) => one.type === 'text/plain' && one.disposition !== 'attachment');
    return {
      subject: found.envelope?.subject ?? '',
      from: found.envelope?.from?.[0]?.address ?? '',
      to: (found.envelope?.to ?? []).map((one) => one.address ?? ''),
      text: (await this.#part(uid, text?.part ?? '1')).replaceAll('\r\n', '\n'),
      attachments: await Promise.all(
        attached.map(async (one) => ({
          name: one.dispositionParameters?.['filename'] ?? '',
          content: await this.#part(uid, one.part ?? ''),
        })),
      ),
    };
  }

  async mark(role: Role, subject: string, flag: keyof typeof FLAGS, on: boolean): Promise<void> {
    const uid = await this.#uid(role, subject);
    if (on) await this.#client.messageFlagsAdd(uid, [FLAGS[flag]], { uid: true });
    else await this.#client.messageFlagsRemove(uid, [FLAGS[flag]], { uid: true });
  }

  async move(from: Role, subject: string, to: Role): Promise<void> {
    await this.#client.messageMove(await this.#uid(from, subject), this.#path(to), { uid: true });
  }

  async search(role: Role, word: string): Promise<string[]> {
    await this.#select(role);
    const uids = (await this.#client.search({ body: word }, { uid: true })) || [];
    return (await this.#all(role)).filter((one) => uids.includes(one.uid)).map((one) => shown(one).subject);
  }

  async draft({ to, subject, text }: Letter): Promise<void> {
    const octets = await this.#composed({ to, subject, text });
    await this.#client.append(this.#path('drafts'), octets, [DRAFT, FLAGS.seen]);
  }

  /** As mail programs do it: hand it over, keep a copy in Sent, take away the draft. */
  async send(subject: string): Promise<void> {
    const uid = await this.#uid('drafts', subject);
    const found = await this.#client.fetchOne(uid, { source: true, envelope: true }, { uid: true });
    if (found === false || found === undefined || found.source === undefined) throw new Error(`no ${subject}`);
    const to = (found.envelope?.to ?? []).map((one) => one.address ?? '');
    const transport = createTransport({
      host: '127.0.0.1',
      port: this.#box.port('submissions'),
      secure: true,
      auth: { user: this.#user, pass: this.#password },
      tls: { rejectUnauthorized: false },
    });
    await transport.sendMail({ envelope: { from: this.#user, to }, raw: found.source });
    await this.#client.append(this.#path('sent'), found.source, [FLAGS.seen]);
    await this.remove('drafts', subject);
  }

  async remove(role: Role, subject: string): Promise<void> {
    await this.#client.messageDelete(await this.#uid(role, subject), { uid: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.logout();
  }

  #path(role: Role): string {
    return this.#paths.get(role) ?? '';
  }

  async #select(role: Role): Promise<void> {
    await this.#client.mailboxOpen(this.#path(role));
    // NOOP reports the changes of other sessions if the mailbox was open already.
    await this.#client.noop();
  }

  async #all(role: Role): Promise<FetchMessageObject[]> {
    await this.#select(role);
    return this.#client.fetchAll('1:*', { uid: true, envelope: true, flags: true }, { uid: true });
  }

  async #uid(role: Role, subject: string): Promise<string> {
    const found = (await this.#all(role)).filter((one) => one.envelope?.subject === subject);
    if (found.length !== 1) throw new Error(`${found.length} messages in ${role} are called ${subject}`);
    return String(found[0]?.uid);
  }

  async #part(uid: string, part: string): Promise<string> {
    const { content } = await this.#client.download(uid, part, { uid: true });
    const pieces: Buffer[] = [];
    for await (const piece of content ?? []) pieces.push(piece as Buffer);
    return Buffer.concat(pieces).toString('utf8');
  }

  async #composed({ to, subject, text }: Letter): Promise<Buffer> {
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message } = await transport.sendMail({ from: this.#user, to, subject, text });
    return message as Buffer;
  }
}

function shown({ envelope, flags = new Set() }: FetchMessageObject): Shown {
  return {
    subject: envelope?.subject ?? '',
    from: envelope?.from?.[0]?.address ?? '',
    seen: flags.has(FLAGS.seen),
    flagged: flags.has(FLAGS.flagged),
    answered: flags.has(FLAGS.answered),
    draft: flags.has(DRAFT),
  };
}
