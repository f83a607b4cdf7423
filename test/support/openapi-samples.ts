import { CATALOGUE } from '../../src/operations/catalogue.ts';
import { SAMPLES } from './operation-samples.ts';
import { type BoxTenant, HOOK } from './openapi-things.ts';

type Args = Record<string, unknown>;

/** Good arguments of routes that are no operations. */
const OTHERS: Readonly<Record<string, (of: BoxTenant) => unknown>> = {
  list_tools: () => ({}),
  bootstrap_account: () => ({}),
  send_email_by_key: ({ things }) => sentByKey(things.address),
  send_email_batch: ({ things }) => [sentByKey(things.address)],
  get_sent_email: ({ keySentId: id }) => ({ id }),
  list_sent_email_events: ({ keySentId: id }) => ({ id }),
  cancel_sent_email: ({ keySentId: id }) => ({ id }),
};

let last = 0;

const sentByKey = (from: string): Args => ({ from, to: `n${++last}@else.example`, subject: `${last}`, text: 'x' });

/** True for routes that take an API key. */
export function takesKey(operationId: string): boolean {
  return /^(?:send_email_by_key|send_email_batch|get_sent_email|list_sent_email_events|cancel_sent_email)$/.test(
    operationId,
  );
}

/** Good arguments of a documented operation, by their names in the document; undefined: it has none. */
export function argumentsOf(operationId: string, tenant: BoxTenant): unknown {
  const isRoute = operationId.endsWith('_by_route');
  const name = isRoute ? operationId.slice(0, -'_by_route'.length) : operationId;
  const sample = OTHERS[operationId]?.(tenant) ?? SAMPLES[name]?.(tenant.things);
  if (typeof sample !== 'object' || sample === null || Array.isArray(sample)) return sample;
  const short = isRoute ? (CATALOGUE.find((one) => one.name === name)?.rest?.query ?? {}) : {};
  const named = new Map(Object.entries(short).map(([shortened, whole]) => [whole, shortened]));
  return Object.fromEntries(Object.entries(sample).map(([key, value]) => [named.get(key) ?? key, local(value)]));
}

/** Hosts of the samples, which a box without a network cannot look up, become this machine. */
function local(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith('https://hooks.example.net/')) return HOOK;
  return value === '198.41.0.4' ? '127.0.0.1' : value;
}
