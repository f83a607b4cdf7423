import { type Args, type Invocation, type JmapClient, listOf, ref } from './jmap-client.ts';

export interface Draft {
  from: string;
  to: string;
  subject: string;
  text: string;
  attachments?: readonly { blobId: string; name: string; type: string }[];
  /** In-Reply-To, without angle brackets. */
  inReplyTo?: string;
}

/** User actions on a mailbox, as RFC 8621 calls. */
export class JmapMailbox {
  readonly client: JmapClient;
  /** Ids of mailboxes by their roles. */
  readonly roles: ReadonlyMap<string, string>;
  readonly #identity: string;

  private constructor(client: JmapClient, mailboxes: readonly Args[], identity: string) {
    this.client = client;
    this.roles = new Map(mailboxes.map((one) => [String(one['role']), String(one['id'])]));
    this.#identity = identity;
  }

  static async open(client: JmapClient): Promise<JmapMailbox> {
    const got = await client.calls([
      ['Mailbox/get', { ids: null, properties: ['role'] }, 'm'],
      ['Identity/get', { ids: null }, 'i'],
    ]);
    const [identity] = listOf(got['i']);
    return new JmapMailbox(client, listOf(got['m']), String(identity?.['id']));
  }

  in(role: string): string {
    const id = this.roles.get(role);
    if (id === undefined) throw new Error(`no mailbox is the ${role}`);
    return id;
  }

  /** Queries and fetches emails, newest first, in one request. */
  async find(filter: Args, properties: readonly string[] = ['id', 'subject', 'keywords']): Promise<Args[]> {
    const got = await this.client.calls([
      ['Email/query', { filter, sort: [{ property: 'receivedAt', isAscending: false }], limit: 50 }, 'q'],
      ['Email/get', { '#ids': ref('q', 'Email/query', '/ids'), properties }, 'g'],
    ]);
    return listOf(got['g']);
  }

  /** Finds the id of the only message with this subject. */
  async named(role: string, subject: string): Promise<string> {
    const all = await this.find({ inMailbox: this.in(role) });
    const found = all.filter((one) => one['subject'] === subject);
    if (found.length !== 1) throw new Error(`${found.length} messages in ${role} are called ${subject}`);
    return String(found[0]?.['id']);
  }

  async update(id: string, patch: Args): Promise<void> {
    await this.set({ update: { [id]: patch } });
  }

  /** Email/set that must succeed for all objects. */
  async set(args: Args): Promise<Args> {
    const said = await this.client.call('Email/set', args);
    for (const refused of ['notCreated', 'notUpdated', 'notDestroyed']) {
      if (said[refused] !== null && said[refused] !== undefined) throw new Error(JSON.stringify(said[refused]));
    }
    return said;
  }

  /** Stores a draft; returns its id. */
  async draft(draft: Draft): Promise<string> {
    const said = await this.set({ create: { d: this.composed(draft) } });
    return String((said['created'] as Record<string, Args>)['d']?.['id']);
  }

  /** The Email object of a draft. RFC 8621 4.6. */
  composed({ from, to, subject, text, attachments = [], inReplyTo }: Draft): Args {
    return {
      mailboxIds: { [this.in('drafts')]: true },
      keywords: { $draft: true, $seen: true },
      from: [{ email: from }],
      to: [{ email: to }],
      subject,
      ...(inReplyTo !== undefined && { inReplyTo: [inReplyTo], references: [inReplyTo] }),
      bodyValues: { t: { value: text } },
      textBody: [{ partId: 't', type: 'text/plain' }],
      attachments: attachments.map((one) => ({ ...one, disposition: 'attachment' })),
    };
  }

  /** The submission call; moves the message from Drafts to Sent on success. RFC 8621 7.5. */
  sending(emailId: string, more: Args = {}): Invocation {
    const done = {
      [`mailboxIds/${this.in('drafts')}`]: null,
      [`mailboxIds/${this.in('sent')}`]: true,
      'keywords/$draft': null,
    };
    const create = { s: { identityId: this.#identity, emailId, ...more } };
    return ['EmailSubmission/set', { create, onSuccessUpdateEmail: { '#s': done } }, 's'];
  }

  /** Sends a draft; returns the submission. */
  async send(emailId: string, more: Args = {}): Promise<Args> {
    const responses = await this.client.request([this.#own(this.sending(emailId, more))]);
    const said = responses.find(([name]) => name === 'EmailSubmission/set')?.[1];
    const created = (said?.['created'] as Record<string, Args> | null | undefined)?.['s'];
    if (created === undefined) throw new Error(JSON.stringify(responses));
    return created;
  }

  #own([name, args, id]: Invocation): Invocation {
    return [name, { accountId: this.client.account, ...args }, id];
  }
}
