import { keepFirstReads, takeFirstAnswer } from './first-reads.ts';
import type { MethodResponse } from './jmap-types.ts';
import { MailError, SignedOut } from './mail-error.ts';
import { translatedRefusal } from './refusals.ts';
import { type JmapCall, methodCallsOf } from './mail-requests.ts';
import { RequestQueue } from './request-queue.ts';
import { t } from './translate.ts';

export { MailError, SignedOut } from './mail-error.ts';

const CORE = 'urn:ietf:params:jmap:core';
const SUBMISSION = 'urn:ietf:params:jmap:submission';
const VERDICTS = 'urn:mailstead:params:jmap:mail';

const USING = [
  CORE,
  'urn:ietf:params:jmap:mail',
  SUBMISSION,
  'urn:ietf:params:jmap:vacationresponse',
  'urn:ietf:params:jmap:quota',
  VERDICTS,
];

export interface OpenAccount {
  id: string;
  address: string;
  readOnly: boolean;
  /** False for an account of which somebody else shares folders. */
  isPersonal: boolean;
  /** False if nothing can be sent from it. */
  canSubmit: boolean;
  /** True if emails say who vouches for them. */
  hasVerdicts: boolean;
}

let account: OpenAccount | undefined;
let all: readonly OpenAccount[] = [];
/** Objects of one /get and one /set. RFC 8620 2. */
let objectLimits = { get: 1, set: 1 };
/** The server may still count a request that has just been answered, so one less runs than it allows. RFC 8620 2. */
let requests = new RequestQueue(1);

/** Attempts while other windows use up the concurrent requests of the login, and ms between the first two. */
const MAX_ATTEMPTS = 6;
const RETRY_MS = 200;

/** The account that is open. Throws before {@link openAccount}. */
export function currentAccount(): OpenAccount {
  if (account === undefined) throw new MailError(t('error.opening'));
  return account;
}

/** All accounts of the session, the reader's own first. */
export function accounts(): readonly OpenAccount[] {
  return all;
}

/** Objects that one /get and one /set may have. RFC 8620 2. */
export function maxObjects(): { get: number; set: number } {
  return objectLimits;
}

interface SessionAccount {
  name: string;
  isPersonal: boolean;
  isReadOnly: boolean;
  accountCapabilities: Record<string, object>;
}

interface SessionObject {
  accounts: Record<string, SessionAccount>;
  capabilities: { [CORE]: { maxConcurrentRequests: number; maxObjectsInGet: number; maxObjectsInSet: number } };
}

/** Reads what the document began to load: the session, and the answers to the first requests. */
async function readFirst(): Promise<SessionObject | undefined> {
  const { first } = document.documentElement.dataset;
  if (first === undefined || first === '') return undefined;
  try {
    return keepFirstReads<SessionObject>(await readJson(first));
  } catch (error) {
    // Another node may have another version, which does not know the address: the page reads what it needs by itself.
    if (error instanceof SignedOut) throw error;
    return undefined;
  }
}

/** Loads the JMAP session and opens the account that the address names, else the first. RFC 8620 2. */
export async function openAccount(): Promise<OpenAccount> {
  const session = (await readFirst()) ?? ((await readJson('/mail/jmap/session')) as SessionObject);
  const limits = session.capabilities[CORE];
  requests = new RequestQueue(Math.max(1, limits.maxConcurrentRequests - 1));
  objectLimits = { get: limits.maxObjectsInGet, set: limits.maxObjectsInSet };
  all = Object.entries(session.accounts).map(([id, one]) => ({
    id,
    address: one.name,
    readOnly: one.isReadOnly,
    isPersonal: one.isPersonal,
    canSubmit: Object.hasOwn(one.accountCapabilities, SUBMISSION),
    hasVerdicts: Object.hasOwn(one.accountCapabilities, VERDICTS),
  }));
  const wanted = new URLSearchParams(location.search).get('account');
  account = all.find(({ id }) => id === wanted) ?? all[0];
  if (account === undefined) throw new MailError(t('error.no-mailbox'));
  return account;
}

/** A refusal of a route (`code`), or of JMAP (`limit`). RFC 8620 3.6.1. */
interface CallProblem {
  detail?: string;
  code?: string;
  limit?: string;
}

const problemText = ({ code, detail }: CallProblem): string | undefined => translatedRefusal(code) ?? detail;

async function call(url: string, init: RequestInit = {}): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await reached(url, init);
    if (response.status === 401) throw new SignedOut(t('error.session'));
    if (response.ok) return response;
    const problem = (await response.json().catch(() => ({}))) as CallProblem;
    if (problem.limit !== 'maxConcurrentRequests' || attempt === MAX_ATTEMPTS)
      throw new MailError(problemText(problem) ?? t('error.answered', { status: String(response.status) }), {
        status: response.status,
      });
    await new Promise((resolve) => setTimeout(resolve, attempt * RETRY_MS));
  }
}

async function reached(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { credentials: 'same-origin', ...init });
  } catch (cause) {
    throw new MailError(t('error.unreachable'), { cause });
  }
}

/** Reads JSON of a route of web mail. */
export async function readJson(path: string): Promise<unknown> {
  return (await call(path)).json();
}

/** Submits a form to a route of web mail. */
export async function postForm(path: string, fields: Record<string, string>): Promise<Record<string, unknown>> {
  const response = await call(path, { method: 'POST', body: new URLSearchParams(fields) });
  return (await response.json()) as Record<string, unknown>;
}

/** The result of a call, or its failure. */
export type MethodOutcome = Record<string, unknown> | MailError;

/**
 * Runs method calls in one request and returns their results in order. The account is added; a call refers to an earlier one
 * by its position: `{ resultOf: '0', ... }`. Throws MailError for the first call that failed.
 */
export async function methods(...calls: readonly JmapCall[]): Promise<Record<string, unknown>[]> {
  return (await methodsOrErrors(...calls)).map(succeeded);
}

/** The same; a call that failed has its error as the result. */
export async function methodsOrErrors(...calls: readonly JmapCall[]): Promise<MethodOutcome[]> {
  const methodCalls = methodCallsOf(currentAccount().id, calls);
  const methodResponses = takeFirstAnswer(methodCalls) ?? (await responsesTo(methodCalls));
  return calls.map((_, at) => outcomeOf(methodResponses, String(at)));
}

/** Throws the failure of a call. */
export function succeeded(outcome: MethodOutcome | undefined): Record<string, unknown> {
  if (outcome instanceof MailError) throw outcome;
  return outcome ?? {};
}

async function responsesTo(methodCalls: readonly object[]): Promise<MethodResponse[]> {
  const body = JSON.stringify({ using: USING, methodCalls });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const response = await requests.run(() => call('/mail/jmap/api', init));
  return ((await response.json()) as { methodResponses: MethodResponse[] }).methodResponses;
}

/** The explicit result of a call; implicit calls of onSuccessUpdateEmail share its id. */
function outcomeOf(responses: readonly MethodResponse[], id: string): MethodOutcome {
  const found = responses.find(([, , one]) => one === id);
  if (found === undefined) return new MailError(t('error.left-out'));
  const [name, result] = found;
  const { description, type } = result as { description?: string; type?: string };
  if (name === 'error') return new MailError(description ?? t('error.failed', { type: type ?? '' }));
  return result;
}

export interface SetProblem {
  type: string;
  description?: string;
  /** The object that is there, for alreadyExists. */
  existingId?: string;
}

/** Throws the first refusal of a /set response, with `what` in front. */
export function throwRefusals(result: Record<string, unknown>, what: string): void {
  for (const key of ['notCreated', 'notUpdated', 'notDestroyed']) {
    const [refusal] = Object.values((result[key] ?? {}) as Record<string, SetProblem>);
    if (refusal !== undefined) throw new MailError(`${what}: ${refusal.description ?? refusal.type}`);
  }
}

/** URL of a blob. Names are for the download dialog only. */
export function blobUrl(blobId: string, name: string, type: string): string {
  const path = [currentAccount().id, blobId, name].map(encodeURIComponent).join('/');
  return `/mail/jmap/download/${path}?accept=${encodeURIComponent(type)}`;
}

/** Loads a blob, for a preview. */
export async function blobOf(blobId: string, type: string): Promise<Blob> {
  const response = await call(blobUrl(blobId, 'part', type));
  return new Blob([await response.arrayBuffer()], { type });
}

export interface Upload {
  blobId: string;
  type: string;
  size: number;
}

/** Uploads a file. `onProgress` gets the part that is done, 0 to 1. fetch() reports no progress of uploads. */
export function upload(file: File, onProgress: (done: number) => void): Promise<Upload> {
  const { promise, resolve, reject } = Promise.withResolvers<Upload>();
  const request = new XMLHttpRequest();
  request.open('POST', `/mail/jmap/upload/${encodeURIComponent(currentAccount().id)}`);
  request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type);
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
  request.addEventListener('error', () => reject(new MailError(t('error.upload', { file: file.name }))));
  request.addEventListener('load', () => {
    const answer = JSON.parse(request.responseText || '{}') as Upload & { detail?: string };
    if (request.status === 201) resolve(answer);
    else reject(new MailError(answer.detail ?? t('error.upload-refused', { file: file.name })));
  });
  request.send(file);
  return promise;
}
