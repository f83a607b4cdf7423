import { CATALOGUE } from '../../src/operations/catalogue.ts';
import { ATTACKER } from './attack.ts';
import { ME } from './attacked-box.ts';
import type { Answer, ObedientAgent } from './obedient-agent.ts';

/** Operations that only read, but for those about things that have nothing to do with mail that came. */
const READING = CATALOGUE.filter(
  ({ name, hints, operatorOnly }) =>
    hints.readOnly &&
    operatorOnly !== true &&
    !['get_email_template', 'get_queue_item', 'list_deployments'].includes(name),
);

/** One call of a tool, with what names things that are there. */
export interface Reading {
  tool: string;
  args: Answer;
}

/** Calls of each operation that only reads, so that what is there is shown. `cursor`: of a wait, from before mail came. */
export async function readings(agent: ObedientAgent, cursor: unknown): Promise<Reading[]> {
  const messages = await agent.list();
  const { items } = (await agent.call('list_outbox', { limit: 1 })) as { items: { outboxId: string }[] };
  const about = { mailbox: ME, inReplyTo: messages[0]?.id, text: 'A draft.' };
  const { draft } = (await agent.call('create_draft', about)) as { draft: { id: string } };
  const special: Record<string, Answer> = {
    wait_for_email: { mailbox: ME, since: cursor, timeoutSeconds: 0 },
    wait_for_code: { mailbox: ME, expectFrom: 'evil.example', timeoutSeconds: 0 },
    explain_decision: { outboxId: items[0]?.outboxId },
    get_import: { importId: 'imp_1' },
    get_draft: { mailbox: ME, draftId: draft.id },
    get_email_stats: { mailbox: ME, from: '2020-01-01T00:00:00Z', bucket: 'day' },
  };
  return READING.flatMap(({ name: tool, input }) => {
    const fields = Object.keys(input.shape);
    const named = messages.map(({ id: messageId, threadId }) => ({
      ...KNOWN,
      messageId,
      threadId,
      attachmentId: `${messageId}-2`,
      outboxId: items[0]?.outboxId,
    }));
    const all: Answer[] = fields.some((field) => ABOUT.has(field)) ? named : named.slice(0, 1);
    if (tool === 'trace_message') {
      return messages.map(({ id: messageId }) => ({ tool, args: { mailbox: ME, messageId } }));
    }
    const chosen = special[tool] === undefined ? all.map((known) => pick(known, fields)) : [special[tool]];
    return chosen.map((args) => ({ tool, args }));
  });
}

const ABOUT = new Set(['messageId', 'threadId', 'attachmentId']);

function pick(known: Answer, fields: readonly string[]): Answer {
  return Object.fromEntries(fields.filter((name) => name in known).map((name) => [name, known[name]]));
}

const KNOWN: Answer = {
  mailbox: ME,
  address: ME,
  domain: 'home.example',
  query: 'mallory',
  contact: ATTACKER,
  since: '2020-01-01T00:00:00Z',
  handle: 'link:1',
  includeQuoted: true,
  name: 'home.example',
  limit: 10,
};
