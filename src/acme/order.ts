import type { AcmeClient, AcmeResource } from './acme-client.ts';
import { AcmeProblem, AuthorityUnavailable, NamesRefused, shortLine, type RefusedName } from './acme-error.ts';

export const CHALLENGES = ['http-01', 'tls-alpn-01', 'dns-01'] as const;
export type ChallengeType = (typeof CHALLENGES)[number];

/** A challenge that is to be answered. */
export interface ChallengeTask {
  type: ChallengeType;
  /** Name without `*.`. */
  name: string;
  token: string;
  keyAuthorization: string;
}

/** Answers challenges. */
export interface ChallengeSolver {
  /** Chooses one of the offered types; undefined: none can be answered. */
  choose(name: string, offered: readonly ChallengeType[]): Promise<ChallengeType | undefined>;
  /** Publishes the answer until the result is disposed of. */
  present(task: ChallengeTask): Promise<AsyncDisposable>;
}

export interface CertificateOrder {
  names: readonly string[];
  /** Certificate request, DER. */
  csr: () => Promise<Uint8Array>;
  solver: ChallengeSolver;
  /** RFC 9773 5: id of the certificate that it replaces. */
  replaces?: string;
  /** First interval of polls, ms. */
  pollMs?: number;
}

/** Intervals of polls: the first, and the longest, ms. */
const FIRST_POLL_MS = 500;
const MAX_POLL_MS = 10_000;
/** Time for one authorization or the issuance, ms. */
const MAX_WAIT_MS = 180_000;

/** Requests of one order. */
interface OrderPoll {
  client: AcmeClient;
  pollMs: number;
  signal: AbortSignal;
}

/** Orders a certificate and returns its chain as PEM. RFC 8555 7.4. */
export async function orderCertificate(
  client: AcmeClient,
  { names, csr, solver, replaces, pollMs = FIRST_POLL_MS }: CertificateOrder,
  signal: AbortSignal,
): Promise<string> {
  const order = await newOrder(client, names, replaces, signal);
  const { location } = order;
  const { finalize, authorizations } = order.body;
  if (location === undefined || typeof finalize !== 'string' || !isStrings(authorizations)) {
    throw new AuthorityUnavailable('its order lacks the URLs of RFC 8555 7.1.3');
  }
  if (authorizations.length > names.length) throw new AuthorityUnavailable('its order has more names than requested');
  const refused: RefusedName[] = [];
  const poll = { client, pollMs, signal };
  for (const url of authorizations) refused.push(...(await authorize(poll, url, names, solver)));
  if (refused.length > 0) throw new NamesRefused(refused);
  await waitFor(poll, location, ({ status }) => status !== 'pending');
  const encoded = Buffer.from(await csr()).toString('base64url');
  await client.post(finalize, { csr: encoded }, signal).catch((error: unknown) => {
    // The authority finalized it at a first request whose response was lost.
    if (!(error instanceof AcmeProblem) || error.type !== 'orderNotReady') throw error;
  });
  const done = await waitFor(poll, location, ({ status }) => status === 'valid' || status === 'invalid');
  const { status, certificate, error } = done;
  if (status !== 'valid') throw new AuthorityUnavailable(`it did not issue the certificate: ${detailOf(error)}`);
  if (typeof certificate !== 'string') throw new AuthorityUnavailable('its order is valid without a certificate');
  return client.download(certificate, signal);
}

async function newOrder(
  client: AcmeClient,
  names: readonly string[],
  replaces: string | undefined,
  signal: AbortSignal,
): Promise<AcmeResource> {
  const { newOrder: url, renewalInfo } = await client.directory(signal);
  const identifiers = names.map((value) => ({ type: 'dns', value }));
  if (replaces === undefined || renewalInfo === undefined) return client.post(url, { identifiers }, signal);
  try {
    return await client.post(url, { identifiers, replaces }, signal);
  } catch (error) {
    // RFC 9773 5: it was replaced already, or is of another authority. Then it is an order like any other.
    const unknown = error instanceof AcmeProblem && /^(?:alreadyReplaced|malformed|unauthorized)$/.test(error.type);
    if (!unknown) throw error;
    return client.post(url, { identifiers }, signal);
  }
}

/** Proves control of one name. Returns the refusal, if there is one. */
async function authorize(
  poll: OrderPoll,
  url: string,
  names: readonly string[],
  solver: ChallengeSolver,
): Promise<RefusedName[]> {
  const { client, signal } = poll;
  const { body } = await client.post(url, '', signal);
  if (body['status'] === 'valid') return [];
  const name = nameOf(body);
  if (name === undefined || !names.some((one) => one.replace(/^\*\./, '') === name)) {
    throw new AuthorityUnavailable('it wants control of a name proved that was not ordered');
  }
  const offered = challengesOf(body);
  const type = await solver.choose(
    name,
    CHALLENGES.filter((one) => offered.has(one)),
  );
  const chosen = type === undefined ? undefined : offered.get(type);
  if (type === undefined || chosen === undefined) {
    return [{ name, challenge: 'none', why: 'no challenge that it offers can be answered here' }];
  }
  const task = { type, name, token: chosen.token, keyAuthorization: client.key.keyAuthorization(chosen.token) };
  await using _answer = await solver.present(task);
  await client.post(chosen.url, {}, signal);
  const result = await waitFor(poll, url, ({ status }) => status !== 'pending');
  if (result['status'] === 'valid') return [];
  return [{ name, challenge: type, why: failureOf(result, type) }];
}

function nameOf(body: AcmeResource['body']): string | undefined {
  const identifier = body['identifier'] as { value?: unknown } | undefined;
  return typeof identifier?.value === 'string' ? identifier.value.toLowerCase() : undefined;
}

/** RFC 8555 8.1: a token has only characters of base64url. It becomes part of a path and of a response. */
const TOKEN = /^[\w-]{1,200}$/;

function challengesOf(body: AcmeResource['body']): Map<ChallengeType, { url: string; token: string }> {
  const all = Array.isArray(body['challenges']) ? (body['challenges'] as unknown[]) : [];
  return new Map(
    all.flatMap((one): [ChallengeType, { url: string; token: string }][] => {
      const { type, url, token } = (one ?? {}) as Record<string, unknown>;
      const known = CHALLENGES.find((name) => name === type);
      if (known === undefined || typeof url !== 'string' || typeof token !== 'string') return [];
      return TOKEN.test(token) ? [[known, { url, token }]] : [];
    }),
  );
}

function failureOf(authorization: AcmeResource['body'], type: ChallengeType): string {
  const all = Array.isArray(authorization['challenges']) ? (authorization['challenges'] as unknown[]) : [];
  const failed = all.find((one) => (one as { type?: unknown } | null)?.type === type) as
    { error?: unknown } | null | undefined;
  return detailOf(failed?.error);
}

function detailOf(error: unknown): string {
  const detail = (error as { detail?: unknown } | null | undefined)?.detail;
  return typeof detail === 'string' ? shortLine(detail) : 'no explanation';
}

/** Polls a resource until its status is final, or its time is over. RFC 8555 7.5.1. */
async function waitFor(
  { client, pollMs, signal }: OrderPoll,
  url: string,
  final: (body: AcmeResource['body']) => boolean,
): Promise<AcmeResource['body']> {
  let waited = 0;
  for (let pause = pollMs; ; pause = Math.min(MAX_POLL_MS, pause * 2)) {
    const { body, retryAfterMs } = await client.post(url, '', signal);
    if (final(body)) return body;
    if (waited > MAX_WAIT_MS) throw new AuthorityUnavailable('it did not decide in time');
    // At least this long, so that an authority that demands no pause is not polled in a loop.
    const ms = Math.min(Math.max(retryAfterMs ?? 0, pause), MAX_WAIT_MS);
    waited += ms;
    await client.sleep(ms, signal);
  }
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
