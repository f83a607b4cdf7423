import { jmapId } from '../../mail/store/object-id.ts';
import { type AgentChange, passwordName, threadAgents } from '../agents/thread-queries.ts';
import { agentToken } from '../agents/queries.ts';
import { type ApprovalMail, approvalRequest, requesterOf } from '../approvals/approval-mail.ts';
import type { AppContext } from '../core/app-context.ts';
import { publicId, rowId } from '../core/ids.ts';
import { revealInvisible } from '../untrusted/invisible.ts';
import type { MailReader } from './mail-reader.ts';

/** Approvals of a thread that are shown. */
const MAX_APPROVALS = 20;
/** Authors of read mail that are named. */
const MAX_READ = 10;

/** An agent as readers see it. */
interface ShownAgent {
  name: string;
  /** Mode of a token; null: a password. */
  mode: string | null;
  /** The reader may pause it and let it work again. */
  mayPause: boolean;
}

/** Mail of an agent that needs approval, or needed it. */
interface ShownApproval {
  state: string;
  agent: string;
  recipients: string[];
  reasons: string[];
  /** Authors of outsiders' mail that the agent had read. */
  hadRead: { author: string; authentic: boolean }[];
  expiresAt: string;
  decidedBy: string | null;
  /** Page of the portal, if the reader has to enter a password there to approve. */
  page: string | null;
}

/** Agents in a thread: their messages, changes and requests. Emails and folders by their JMAP ids, agents by theirs. */
export interface AgentView {
  mayDecide: boolean;
  agents: Record<string, ShownAgent>;
  written: Record<string, string>;
  approvals: Record<string, ShownApproval>;
  changes: (Omit<AgentChange, 'at'> & { at: string })[];
  claim: { agent: string; until: string } | null;
}

export const EMPTY_VIEW: AgentView = {
  mayDecide: false,
  agents: {},
  written: {},
  approvals: {},
  changes: [],
  claim: null,
};

/** A time for clients. The helper for operations would load their schemas at the start of the server. */
const isoOf = (ms: number): string => new Date(ms).toISOString();

/** Composes the view of a thread, which is a row of the reader's account. */
export async function agentView(context: AppContext, reader: MailReader, thread: number): Promise<AgentView> {
  const { account } = reader;
  const found = await context.store.read(threadAgents, { account, thread, now: context.clock() });
  const approvals = await shownApprovals(context, reader, found.approvals);
  const written = found.written.map(({ email, agent }) => [jmapId('email', email), agent] as const);
  const ids = [
    ...written.map(([, agent]) => agent),
    ...found.changes.map(({ agent }) => agent),
    ...Object.values(approvals).map(({ agent }) => agent),
    ...(found.claim === undefined ? [] : [found.claim.agent]),
  ];
  const agents = [...new Set(ids)].map(async (id) => [id, await shownAgent(context, reader, id)] as const);
  return {
    mayDecide: reader.mayDecide,
    agents: Object.fromEntries(await Promise.all(agents)),
    written: Object.fromEntries(written),
    approvals,
    changes: found.changes.map((one) => ({ ...one, at: isoOf(one.at) })),
    claim: found.claim === undefined ? null : { ...found.claim, until: isoOf(found.claim.until) },
  };
}

async function shownAgent(context: AppContext, reader: MailReader, id: string): Promise<ShownAgent> {
  const { store } = context;
  const { account, decider } = reader;
  const { tenant } = decider;
  const password = rowId('credential', id);
  if (password !== undefined) {
    const name = await store.read(passwordName, { account, id: password });
    return { name: revealInvisible(name ?? id), mode: null, mayPause: false };
  }
  const name = await requesterOf(context, tenant, id);
  const token = rowId('token', id);
  const found = token === undefined ? undefined : await store.read(agentToken, { id: token });
  const role = reader.caller?.user?.role;
  const mayPause = found?.organization === tenant && (role === 'owner' || role === 'admin');
  return { name, mode: found?.mode ?? null, mayPause };
}

async function shownApprovals(
  context: AppContext,
  reader: MailReader,
  rows: readonly { id: number; email: number }[],
): Promise<Record<string, ShownApproval>> {
  const { account, decider } = reader;
  const { tenant } = decider;
  const shown: Record<string, ShownApproval> = {};
  for (const { id, email } of rows.slice(-MAX_APPROVALS)) {
    const request = await approvalRequest(context, { tenant, accounts: [account], id });
    if (request !== undefined) shown[jmapId('email', email)] = shownApproval(reader, id, request);
  }
  return shown;
}

function shownApproval(
  { caller, fresh, decider }: MailReader,
  id: number,
  { item, hadRead }: Omit<ApprovalMail, 'message'>,
): ShownApproval {
  const page = `/o/${publicId('organization', decider.tenant)}/outbox/${publicId('outbox', id)}`;
  return {
    state: item.state,
    agent: item.approval.credential,
    recipients: item.recipients,
    reasons: item.approval.reasons.map(({ text }) => text),
    hadRead: hadRead
      .slice(0, MAX_READ)
      .map(({ author, authentic }) => ({ author: revealInvisible(author), authentic })),
    expiresAt: isoOf(item.approval.expiresAt),
    decidedBy: item.approval.decidedBy,
    page: caller !== undefined && !fresh ? page : null,
  };
}
