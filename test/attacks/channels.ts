import type { Caller } from '../../src/core/caller.ts';
import type { Crew } from './crew.ts';
import type { Answer } from './obedient-agent.ts';

/** A way by which one agent gets something to another. */
export interface Channel {
  name: string;
  /** Stores it; answers what names it. */
  put: (crew: Crew, by: Caller) => Promise<unknown>;
  /** Takes it up; answers the result of a sending, if taking it up is one. */
  take: (crew: Crew, by: Caller, id: string) => Promise<Answer | undefined>;
  /** Passes it on within the organization, unread; answers the message. Left out: taking it up taints. */
  carry?: (crew: Crew, by: Caller, id: string) => Promise<string>;
}

const INSIDE = 'note to a colleague';

const draft = async (crew: Crew, by: Caller): Promise<unknown> => {
  const word = crew.word();
  const written = { mailbox: crew.shared.mailboxId, to: [`${word}@loot.example`], subject: word, text: word };
  return ((await crew.call(by, 'create_draft', written))['draft'] as { id: string }).id;
};

/** Reads by a tool, which answers no sending. */
const read =
  (tool: string, args: (crew: Crew, id: string) => object = () => ({})): Channel['take'] =>
  async (crew, by, id) => {
    await crew.call(by, tool, args(crew, id));
    return undefined;
  };

/** Stores a word by a tool. */
const write =
  (tool: string, args: (crew: Crew) => object): Channel['put'] =>
  async (crew, by) => {
    await crew.call(by, tool, args(crew));
    return '';
  };

const inShared = ({ shared }: Crew): object => ({ mailbox: shared.mailboxId });
const inOther = ({ other }: Crew, messageId: string): object => ({ mailbox: other.mailboxId, messageId });
const inside: Channel['put'] = (crew, by) => crew.inside(by, { text: INSIDE });

const MAIL: readonly Channel[] = [
  { name: 'mail within the organization', put: inside, take: read('get_message', inOther) },
  {
    name: 'a list of mail within the organization',
    put: inside,
    take: read('list_messages', ({ other }) => ({ mailbox: other.mailboxId, folder: 'inbox' })),
  },
  {
    name: 'a search for mail within the organization',
    put: inside,
    take: read('search_messages', ({ other }) => ({ mailbox: other.mailboxId, query: 'colleague' })),
  },
  {
    name: 'mail within the organization, forwarded unread',
    put: inside,
    take: (crew, by, id) =>
      crew.call(by, 'forward_email', { ...inOther(crew, id), to: [`${crew.word()}@loot.example`], note: 'See below' }),
    carry: async (crew, by, id) => {
      await crew.call(by, 'forward_email', { ...inOther(crew, id), to: [crew.other.address], note: 'See below' });
      return crew.newest();
    },
  },
  {
    name: 'a file in mail within the organization, attached unread',
    put: (crew, by) => {
      const contentBase64 = Buffer.from(crew.word()).toString('base64');
      return crew.inside(by, { attachments: [{ filename: 'a.txt', contentType: 'text/plain', contentBase64 }] });
    },
    take: (crew, by, id) =>
      crew.toStranger(by, { from: crew.other.address, attachments: [{ attachmentId: `${id}-2` }] }),
    carry: (crew, by, id) => crew.inside(by, { from: crew.other.address, attachments: [{ attachmentId: `${id}-2` }] }),
  },
  {
    name: 'a label on a clean message',
    put: async (crew, by) => {
      const id = await crew.inside(await crew.agent());
      const labels = { mailbox: crew.other.mailboxId, messageIds: [id], addLabels: [crew.word()] };
      await crew.call(by, 'update_message', labels);
      return id;
    },
    take: read('get_message', inOther),
  },
];

const DRAFTS: readonly Channel[] = [
  { name: 'a draft', put: draft, take: read('get_draft', (crew, draftId) => ({ ...inShared(crew), draftId })) },
  { name: 'a list of drafts', put: draft, take: read('list_drafts', inShared) },
  {
    name: 'a draft, sent unread',
    put: draft,
    take: (crew, by, draftId) => crew.call(by, 'send_draft', { ...inShared(crew), draftId, revision: draftId }),
  },
  {
    name: 'a draft, written over by the other and sent',
    put: draft,
    take: async (crew, by, draftId) => {
      const anew = { ...inShared(crew), draftId, revision: draftId, text: crew.word() };
      const { draft: changed } = await crew.call(by, 'update_draft', anew);
      const { revision } = changed as { revision: string };
      return crew.call(by, 'send_draft', { ...inShared(crew), draftId, revision });
    },
  },
];

const template = async (crew: Crew, by: Caller): Promise<unknown> => {
  const word = crew.word();
  const made = await crew.call(by, 'create_email_template', { name: word, subject: word, text: word });
  return (made['template'] as { id: string }).id;
};

const WORDS: readonly Channel[] = [
  { name: 'a template', put: template, take: read('get_email_template', (_, templateId) => ({ templateId })) },
  {
    name: 'a template, sent unread',
    put: template,
    take: (crew, by, id) => crew.toStranger(by, { subject: undefined, text: undefined, template: { id } }),
  },
  {
    name: 'the name of a label',
    put: write('create_label', (crew) => ({ ...inShared(crew), name: crew.word() })),
    take: read('list_labels', inShared),
  },
  {
    name: 'the name of a project',
    put: write('create_project', (crew) => ({ name: crew.word() })),
    take: read('list_projects'),
  },
  {
    name: 'the name of a service',
    put: write('create_service', (crew) => ({ projectId: crew.shared.projectId, name: crew.word() })),
    take: read('list_services', ({ shared }) => ({ projectId: shared.projectId })),
  },
  {
    name: 'the note of an alias',
    put: write('create_alias', (crew) => ({ mailboxIds: [crew.shared.mailboxId], note: crew.word() })),
    take: read('list_aliases'),
  },
  {
    name: 'the display name of a mailbox',
    put: write('update_email', (crew) => ({ mailboxId: crew.shared.mailboxId, displayName: crew.word() })),
    take: read('list_emails'),
  },
  {
    name: 'the note of a rule',
    put: write('add_sender_rule', (crew) => ({
      mailboxId: crew.shared.mailboxId,
      kind: 'block',
      pattern: `${crew.word()}.example`,
      note: crew.word(),
    })),
    take: read('list_sender_rules', ({ shared }) => ({ mailboxId: shared.mailboxId })),
  },
  {
    name: 'the name of a limited token',
    put: write('create_narrow_token', (crew) => ({ ...inShared(crew), name: crew.word() })),
    take: read('list_agent_tokens'),
  },
  {
    name: 'the audit log',
    put: write('create_project', (crew) => ({ name: crew.word() })),
    take: read('list_audit_events'),
  },
  {
    name: 'mail that waits for a person',
    put: async (crew, by) => (await crew.toStranger(by))['outboxId'] ?? 'queued',
    take: read('list_outbox'),
  },
];

/** Ways between agents, each by what one of them writes and another takes up. */
export const CHANNELS: readonly Channel[] = [...MAIL, ...DRAFTS, ...WORDS];
