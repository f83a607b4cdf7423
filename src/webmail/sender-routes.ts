import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  addSenderRule,
  MAX_SENDER_RULES,
  removeSenderRule,
  senderRule,
  senderRulesOf,
} from '../../mail/store/filter/sender-rule.ts';
import { namePattern } from '../../mail/policy/sender-rules.ts';
import type { AppContext } from '../core/app-context.ts';
import { publicId, rowId } from '../core/ids.ts';
import { isOwnPage } from '../http/own-page.ts';
import { Fields } from '../portal/form-fields.ts';
import { auditedByReader } from './audited.ts';
import { type MailReader, personOf, type ReaderRefusal, sendReaderProblem, sendJson } from './mail-reader.ts';

/** Rules that the settings show. */
const MAX_SHOWN = 500;

/**
 * Routes for the senders that a reader blocks or always allows, for their mailbox only: `GET /mail/senders`, and forms to add
 * and remove a rule.
 */
export function senderRoutes(context: AppContext, app: FastifyInstance): void {
  app.get('/mail/senders', async (request, reply) => {
    if (!isOwnPage(context, request)) return sendReaderProblem(reply, 403, 'Open web mail on this site.');
    const reader = await personOf(context, request, reply);
    return reader === undefined ? reply : sendJson(reply, { rules: await rulesOf(context, reader) });
  });
  app.post('/mail/senders/add', (request, reply) => change(context, request, reply, addRule));
  app.post('/mail/senders/remove', (request, reply) => change(context, request, reply, removeRule));
}

/** Returns the refusal. */
type RuleChange = (context: AppContext, reader: MailReader, fields: Fields) => Promise<ReaderRefusal | undefined>;

const NO_RULE: ReaderRefusal = [404, 'There is no such rule.', 'no-rule'];

async function change(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  run: RuleChange,
): Promise<FastifyReply> {
  const reader = await personOf(context, request, reply, true);
  if (reader === undefined) return reply;
  const refused = await run(context, reader, new Fields(request.body));
  if (refused !== undefined) return sendReaderProblem(reply, ...refused);
  return sendJson(reply, { rules: await rulesOf(context, reader) });
}

/** Rules of the mailbox, newest first. */
async function rulesOf({ store }: AppContext, { account, decider }: MailReader): Promise<object[]> {
  const { tenant } = decider;
  const scope = { tenant, accounts: [account], shared: false, outward: false, after: 0, limit: MAX_SHOWN };
  const rows = await store.read(senderRulesOf, scope);
  return rows.toReversed().map(({ id, kind, pattern }) => ({ id: publicId('senderRule', id), kind, pattern }));
}

const addRule: RuleChange = async (context, reader, fields) => {
  const kind = fields.text('kind');
  const text = fields.text('pattern').trim();
  const user = text.slice(0, Math.max(0, text.lastIndexOf('@')));
  const pattern = user.includes('*') ? undefined : namePattern(text);
  if (kind !== 'allow' && kind !== 'block') return [422, 'Choose to block or to allow.'];
  if (pattern === undefined || text.length > 320)
    return [
      422,
      'Give an address (ann@shop.example), a domain (shop.example) or all below it (*.shop.example).',
      'no-sender',
    ];
  const { account, decider } = reader;
  const input = { tenant: decider.tenant, account, outward: false, kind, pattern, note: '', by: null } as const;
  const what = { command: addSenderRule, input, operation: 'add_sender_rule', detail: { kind, pattern } };
  const done = await auditedByReader(context, reader, what);
  if (done.kind === 'too-many')
    return [409, `Limit reached: ${MAX_SENDER_RULES} rules. Remove some first.`, 'too-many-rules'];
  return done.kind === 'added' ? undefined : [404, 'The mailbox does not exist any more.'];
};

const removeRule: RuleChange = async (context, reader, fields) => {
  const id = rowId('senderRule', fields.text('rule')) ?? 0;
  const { account, decider } = reader;
  const { tenant } = decider;
  const found = await context.store.read(senderRule, { tenant, id });
  if (found?.account !== account) return NO_RULE;
  const detail = { kind: found.kind, pattern: found.pattern };
  const input = { tenant, id, by: null };
  const what = { command: removeSenderRule, input, operation: 'remove_sender_rule', detail };
  const done = await auditedByReader(context, reader, what);
  return done.kind === 'removed' ? undefined : NO_RULE;
};
