import { type Args, JmapClient, listOf } from '../jmap-client.ts';
import { JmapMailbox } from '../jmap-mailbox.ts';
import type { Endpoint, Letter, Read, Role, Shown, Way } from './endpoint.ts';

/** JMAP for everything. */
export const overJmap: Way = {
  name: 'JMAP',
  async open(box, user, password) {
    const client = await JmapClient.discover(`http://127.0.0.1:${box.port('http')}`, { user, password });
    return new JmapEndpoint(await JmapMailbox.open(client), user);
  },
};

class JmapEndpoint implements Endpoint {
  readonly #mailbox: JmapMailbox;
  readonly #address: string;

  constructor(mailbox: JmapMailbox, address: string) {
    this.#mailbox = mailbox;
    this.#address = address;
  }

  async list(role: Role): Promise<Shown[]> {
    const properties = ['subject', 'from', 'keywords'];
    return (await this.#mailbox.find({ inMailbox: this.#mailbox.in(role) }, properties)).map(shown);
  }

  async read(role: Role, subject: string): Promise<Read> {
    const { client } = this.#mailbox;
    const ids = [await this.#mailbox.named(role, subject)];
    const [mail = {}] = listOf(await client.call('Email/get', { ids, fetchTextBodyValues: true }));
    const values = mail['bodyValues'] as Record<string, { value: string }>;
    const [text] = mail['textBody'] as { partId: string }[];
    const attachments = mail['attachments'] as { name: string; blobId: string }[];
    return {
      subject: String(mail['subject']),
      from: emails(mail['from'])[0] ?? '',
      to: emails(mail['to']),
      text: values[text?.partId ?? '']?.value ?? '',
      attachments: await Promise.all(
        attachments.map(async ({ name, blobId }) => ({ name, content: String(await client.download(blobId, name)) })),
      ),
    };
  }

  async mark(role: Role, subject: string, flag: string, on: boolean): Promise<void> {
    const id = await this.#mailbox.named(role, subject);
    await this.#mailbox.update(id, { [`keywords/$${flag}`]: on ? true : null });
  }

  async move(from: Role, subject: string, to: Role): Promise<void> {
    const id = await this.#mailbox.named(from, subject);
    const patch = { [`mailboxIds/${this.#mailbox.in(from)}`]: null, [`mailboxIds/${this.#mailbox.in(to)}`]: true };
    await this.#mailbox.update(id, patch);
  }

  async search(role: Role, word: string): Promise<string[]> {
    const filter = { operator: 'AND', conditions: [{ inMailbox: this.#mailbox.in(role) }, { body: word }] };
    return (await this.#mailbox.find(filter)).map((one) => String(one['subject']));
  }

  async draft(letter: Letter): Promise<void> {
    await this.#mailbox.draft({ from: this.#address, ...letter });
  }

  async send(subject: string): Promise<void> {
    await this.#mailbox.send(await this.#mailbox.named('drafts', subject));
  }

  async remove(role: Role, subject: string): Promise<void> {
    await this.#mailbox.set({ destroy: [await this.#mailbox.named(role, subject)] });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const emails = (list: unknown): string[] => ((list ?? []) as { email: string }[]).map(({ email }) => email);

function shown({ subject, from, keywords }: Args): Shown {
  const set = keywords as Record<string, true>;
  return {
    subject: String(subject),
    from: emails(from)[0] ?? '',
    seen: set['$seen'] === true,
    flagged: set['$flagged'] === true,
    answered: set['$answered'] === true,
    draft: set['$draft'] === true,
  };
}
