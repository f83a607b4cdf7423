import { createHmac, timingSafeEqual } from 'node:crypto';
import { CLIENT_CAPABILITIES_META_KEY, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { outboxItem, type OutboxState } from '../../mail/delivery/outbox-items.ts';
import { rowId } from '../ids.ts';
import type { Caller } from '../operations/caller.ts';
import type { World } from '../operations/world.ts';
import { NOT_SENT } from '../sending/became.ts';
import type { Called } from './offer.ts';

const MINUTE_MS = 60_000;
/** A host may show the page for so long before it asks again. */
const GOOD_FOR_MS = 10 * MINUTE_MS;
const MESSAGE = 'A person has to look at this message before it is sent. The page shows it and asks.';

type Context = Pick<ServerContext['mcpReq'], 'envelope' | 'requestState'>;
/** The answer of a tool that sends, as far as it is looked at here. */
type Waits = Readonly<Record<string, unknown>> & { readonly outboxId: string };

/** What of it is looked at; the library has checked its form. */
type Envelope = { [CLIENT_CAPABILITIES_META_KEY]?: { elicitation?: { url?: object } } };
type Ground = Pick<World, 'store' | 'secrets' | 'clock'>;

/**
 * The answer to a message that waits, for a host that can show its person a page: it is asked to. What the host says
 * about it approves nothing, as an agent could say the same; only the page does. Undefined: no question is to be asked.
 */
export function askByHost(world: Ground, caller: Caller, outcome: Called, { envelope }: Context): object | undefined {
  if (outcome.kind !== 'done' || !canShowPages(envelope)) return undefined;
  const result = JSON.parse(outcome.json) as Record<string, unknown>;
  const { status, outboxId, approveUrl: url } = result;
  if (status !== 'pending_approval' || typeof outboxId !== 'string' || typeof url !== 'string') return undefined;
  const inputRequests = { approval: inputRequired.elicitUrl({ message: MESSAGE, url }) };
  return inputRequired({ inputRequests, requestState: sealed(world, caller, { ...result, outboxId }) });
}

/** The answer to a call that comes again after the page was shown. Nothing is sent by it. Undefined: it is a first call. */
export async function answeredByHost(
  world: Ground,
  caller: Caller,
  { requestState }: Context,
): Promise<Called | undefined> {
  const state = requestState();
  if (state === undefined) return undefined;
  const result = opened(world, caller, state);
  const id = rowId('outbox', result?.outboxId ?? '');
  if (result === undefined || id === undefined) return STALE;
  const item = await world.store.read(outboxItem, { id, now: world.clock() });
  if (item === undefined || item.tenant !== caller.organization) return STALE;
  return toldOf(item.state, result);
}

const STALE: Called = {
  kind: 'refused',
  refusal: {
    error: 'conflict',
    message:
      'What this call goes on with is too old or another caller’s: get_outbox_item says what became of the message.',
  },
};

function toldOf(state: OutboxState, result: Waits): Called {
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
        refusal: { error: 'conflict', message: NOT_SENT[state], outboxId: result.outboxId, state },
      };
  }
}

function done(result: object): Called {
  return { kind: 'done', json: JSON.stringify(result), token: undefined };
}

function canShowPages(envelope: Context['envelope']): boolean {
  const known: Envelope = envelope ?? {};
  return known[CLIENT_CAPABILITIES_META_KEY]?.elicitation?.url !== undefined;
}

/** What comes back is whatever the client sends: it is good for this caller, and for some minutes. */
function sealed(world: Ground, caller: Caller, result: Waits): string {
  const until = world.clock() + GOOD_FOR_MS;
  const body = Buffer.from(JSON.stringify({ until, result })).toString('base64url');
  return `${body}.${macOf(world, caller, body).toString('base64url')}`;
}

function opened(world: Ground, caller: Caller, state: unknown): Waits | undefined {
  const [body = '', mac = '', ...more] = typeof state === 'string' ? state.split('.') : [];
  const [given, own] = [Buffer.from(mac, 'base64url'), macOf(world, caller, body)];
  if (more.length > 0 || given.length !== own.length || !timingSafeEqual(given, own)) return undefined;
  const { until, result } = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
    until: number;
    result: Waits;
  };
  return until > world.clock() ? result : undefined;
}

function macOf({ secrets }: Ground, { actor, organization }: Caller, body: string): Buffer {
  const key = secrets.subkey('mcp approval question');
  return createHmac('sha256', key)
    .update(`${organization ?? 0}.${actor}.${body}`)
    .digest();
}
