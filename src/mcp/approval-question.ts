import { createHmac, timingSafeEqual } from 'node:crypto';
import { CLIENT_CAPABILITIES_META_KEY, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { findOutboxItem, type OutboxState } from '../../mail/delivery/outbox-items.ts';
import { rowId } from '../core/ids.ts';
import type { Caller } from '../core/caller.ts';
import type { AppContext } from '../core/app-context.ts';
import { NOT_SENT_REASONS } from '../sending/send-status.ts';
import type { ToolOutcome } from './tool-outcome.ts';

const MINUTE_MS = 60_000;
/** Lifetime of the request state. */
const STATE_LIFE_MS = 10 * MINUTE_MS;
const MESSAGE = 'This message needs approval by a person. The page shows it.';

type Context = Pick<ServerContext['mcpReq'], 'envelope' | 'requestState'>;
/** Fields of a send result that are used here. */
type PendingSend = Readonly<Record<string, unknown>> & { readonly outboxId: string };

/** Fields of the envelope that are used here; the library validated it. */
type Envelope = { [CLIENT_CAPABILITIES_META_KEY]?: { elicitation?: { url?: object } } };
type ApprovalContext = Pick<AppContext, 'store' | 'secrets' | 'clock'>;

/**
 * Asks a host with URL elicitation to show the approval page for a pending message. The host's answer approves nothing,
 * because an agent could forge it; only the page approves. Undefined if nothing is pending.
 */
export function askForApproval(
  context: ApprovalContext,
  caller: Caller,
  outcome: ToolOutcome,
  { envelope }: Context,
): object | undefined {
  if (outcome.kind !== 'done' || !canShowPages(envelope)) return undefined;
  const result = JSON.parse(outcome.json) as Record<string, unknown>;
  const { status, outboxId, approveUrl: url } = result;
  if (status !== 'pending_approval' || typeof outboxId !== 'string' || typeof url !== 'string') return undefined;
  const inputRequests = { approval: inputRequired.elicitUrl({ message: MESSAGE, url }) };
  return inputRequired({ inputRequests, requestState: sealed(context, caller, { ...result, outboxId }) });
}

/** Result of a call that is repeated after the page was shown. Sends nothing. Undefined for a first call. */
export async function resumeApproval(
  context: ApprovalContext,
  caller: Caller,
  { requestState }: Context,
): Promise<ToolOutcome | undefined> {
  const state = requestState();
  if (state === undefined) return undefined;
  const result = opened(context, caller, state);
  const id = rowId('outbox', result?.outboxId ?? '');
  if (result === undefined || id === undefined) return STALE_STATE;
  const item = await context.store.read(findOutboxItem, { id, now: context.clock() });
  if (item === undefined || item.tenant !== caller.organization) return STALE_STATE;
  return outcomeOf(item.state, result);
}

const STALE_STATE: ToolOutcome = {
  kind: 'refused',
  refusal: {
    error: 'conflict',
    message:
      'The requestState has expired or belongs to another caller. Use get_outbox_item for the status of the message.',
  },
};

function outcomeOf(state: OutboxState, result: PendingSend): ToolOutcome {
  switch (state) {
    case 'approved':
      return done({ ...result, status: 'queued', approveUrl: null });
    case 'pending':
    case 'scheduled':
      return done(result);
    case 'denied':
    case 'expired':
    case 'withdrawn':
      return {
        kind: 'refused',
        refusal: { error: 'conflict', message: NOT_SENT_REASONS[state], outboxId: result.outboxId, state },
      };
  }
}

function done(result: object): ToolOutcome {
  return { kind: 'done', json: JSON.stringify(result), token: undefined };
}

function canShowPages(envelope: Context['envelope']): boolean {
  const known: Envelope = envelope ?? {};
  return known[CLIENT_CAPABILITIES_META_KEY]?.elicitation?.url !== undefined;
}

/** Signs the request state: the client returns it, so it is bound to the caller and expires. */
function sealed(context: ApprovalContext, caller: Caller, result: PendingSend): string {
  const until = context.clock() + STATE_LIFE_MS;
  const body = Buffer.from(JSON.stringify({ until, result })).toString('base64url');
  return `${body}.${macOf(context, caller, body).toString('base64url')}`;
}

function opened(context: ApprovalContext, caller: Caller, state: unknown): PendingSend | undefined {
  const [body = '', mac = '', ...more] = typeof state === 'string' ? state.split('.') : [];
  const [given, own] = [Buffer.from(mac, 'base64url'), macOf(context, caller, body)];
  if (more.length > 0 || given.length !== own.length || !timingSafeEqual(given, own)) return undefined;
  const { until, result } = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
    until: number;
    result: PendingSend;
  };
  return until > context.clock() ? result : undefined;
}

function macOf({ secrets }: ApprovalContext, { actor, organization }: Caller, body: string): Buffer {
  const key = secrets.subkey('mcp approval question');
  return createHmac('sha256', key)
    .update(`${organization ?? 0}.${actor}.${body}`)
    .digest();
}
