import type { Resolver } from '../../mail/dns/lookup.ts';
import { checkSendingServer, sendingAddresses, type SendingServer } from '../domains/sending-server.ts';
import {
  checkSpfRecord,
  MAX_SPF_LOOKUPS,
  MAX_SPF_VOID,
  measureSpf,
  type SpfCheck,
  type SpfCost,
} from '../domains/spf.ts';
import { spfTexts } from '../domains/spf-record.ts';
import type { PlanStep } from './plan.ts';
import type { ZoneEntry } from './zone-entry.ts';

/** Input of the review of an SPF record. */
export interface SpfReviewInput {
  resolver: Resolver;
  domain: string;
  server: SendingServer;
  found: readonly ZoneEntry[];
}

/**
 * Evaluates the SPF record of a plan as receivers will, before it is written: shows that it authorizes the addresses of this
 * server, and counts its DNS lookups through all includes. A record that receivers would reject is not written.
 * RFC 7208 4.6.4. `explain`: also evaluates a record that stays as it is.
 */
export async function reviewSpf(
  steps: readonly PlanStep[],
  input: SpfReviewInput,
  explain: boolean,
): Promise<PlanStep[]> {
  return Promise.all(
    steps.map(async (step) => {
      const isMeant = explain || step.action !== 'keep';
      return isMeant && isSpfOf(step, input.domain) ? reviewStep(step, input) : step;
    }),
  );
}

function isSpfOf({ action, type, name, value }: PlanStep, domain: string): boolean {
  if (type !== 'TXT' || name !== domain || value === null || spfTexts([value]).length === 0) return false;
  return action === 'create' || action === 'replace' || action === 'merge' || action === 'keep';
}

async function reviewStep(step: PlanStep, input: SpfReviewInput): Promise<PlanStep> {
  const kept = await authorizedBefore(step, input);
  if (kept !== undefined) return kept;
  const { domain, server } = input;
  const value = step.value ?? '';
  const resolver = planned(input, value);
  const cost = await measureSpf(resolver, domain, value);
  const refusal = step.action === 'merge' ? await refusalOf(step, input, cost) : undefined;
  if (refusal !== undefined) return stopped(step, refusal);
  const { addresses } = await sendingAddresses(server, resolver);
  const isKnown = addresses.length > 0;
  const check = isKnown && server.relayed !== true ? await checkSpfRecord(resolver, domain, addresses) : undefined;
  if (check?.status === 'fail') {
    const problem = step.action === 'keep' ? 'record there does not' : 'record would not';
    return stopped(step, `the ${problem} authorize ${addresses.join(' and ')}: ${check.detail}`);
  }
  const said = [step.why, authorization(server, check), lookupsOf(cost)].filter((one) => one !== null);
  return { ...step, why: said.join('; ') };
}

/** The record there stays as it is where it authorizes this server already, such as by an include. */
async function authorizedBefore(step: PlanStep, input: SpfReviewInput): Promise<PlanStep | undefined> {
  if (step.action !== 'merge' || step.before === null) return undefined;
  const resolver = planned(input, step.before);
  const { status } = await checkSendingServer(resolver, input.domain, input.server);
  if (status !== 'pass') return undefined;
  const { type, name, before } = step;
  return reviewStep({ action: 'keep', type, name, value: before, before, why: null }, input);
}

function stopped({ type, name, value, before }: PlanStep, why: string): PlanStep {
  return { action: 'conflict', type, name, value, before, why };
}

const FREE = 'MAILSTEAD_OUTBOUND_ADDRESSES names addresses, which need no lookup';

/** Why this server cannot be added to a record of others; undefined: it can. */
async function refusalOf(step: PlanStep, input: SpfReviewInput, cost: SpfCost): Promise<string | undefined> {
  if (cost.pending !== undefined)
    return `the DNS lookups of the record cannot be counted now (${cost.pending}): try again later`;
  const isOver = cost.lookups > MAX_SPF_LOOKUPS;
  if (!isOver && cost.void <= MAX_SPF_VOID) return undefined;
  const before = await measureSpf(input.resolver, input.domain, step.before ?? '');
  if (!isOver || before.void > MAX_SPF_VOID)
    return `the record there names more than ${MAX_SPF_VOID} hosts without records, so that receivers reject it (RFC 7208 4.6.4): remove these, then try again`;
  const advice = 'remove an include that is not used any more, or replace it by the addresses in its record';
  if (before.lookups > MAX_SPF_LOOKUPS)
    return `the record there needs more than ${MAX_SPF_LOOKUPS} DNS lookups with all its includes, so that receivers reject it (RFC 7208 4.6.4): ${advice}, then try again`;
  return `the record there needs ${before.lookups} of ${MAX_SPF_LOOKUPS} DNS lookups with all its includes, and this server would need one more (RFC 7208 4.6.4): ${advice}, then try again. ${FREE}`;
}

function authorization({ relayed, hostname }: SendingServer, check: SpfCheck | undefined): string {
  if (relayed === true) return 'mail leaves through the smarthost: check that the record authorizes it too';
  if (check === undefined) return `${hostname} has no address in the DNS yet: without one it authorizes nobody`;
  return check.status === 'pass'
    ? `authorizes the addresses of this server by ${check.detail.split(' ')[0] ?? ''}`
    : `cannot be evaluated now: ${check.detail}`;
}

function lookupsOf({ lookups, pending, problem }: SpfCost): string {
  if (pending !== undefined) return `its DNS lookups cannot be counted now (${pending})`;
  const count = `${Math.min(lookups, MAX_SPF_LOOKUPS + 1)} of ${MAX_SPF_LOOKUPS} DNS lookups`;
  if (lookups > MAX_SPF_LOOKUPS) return `needs more than ${MAX_SPF_LOOKUPS} DNS lookups, so that receivers reject it`;
  return problem === undefined ? count : `${count}; invalid for its other senders: ${problem}`;
}

/** The DNS as it will be: the record of the plan, and the MX records of the zone or our own. */
function planned({ resolver, domain, server, found }: SpfReviewInput, text: string): Resolver {
  const there = found.filter(({ type, name }) => type === 'MX' && name === domain);
  const exchanges = there.map(({ value }) => value.split(' ')[1] ?? '');
  const records = (exchanges.length > 0 ? exchanges : [server.hostname]).map((exchange) => ({
    preference: 10,
    exchange,
  }));
  return {
    ...resolver,
    mx: (name) => (name === domain ? Promise.resolve({ kind: 'found', records }) : resolver.mx(name)),
    txt: (name) => (name === domain ? Promise.resolve({ kind: 'found', records: [text] }) : resolver.txt(name)),
  };
}
