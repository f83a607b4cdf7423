import type { MethodResponse } from './jmap-types.ts';
import { RequestQueue } from './request-queue.ts';
import { t } from './translate.ts';

const USING = [
  'urn:ietf:params:jmap:core',
  'urn:ietf:params:jmap:mail',
  'urn:ietf:params:jmap:submission',
  'urn:ietf:params:jmap:vacationresponse',
  'urn:ietf:params:jmap:quota',
  'urn:mailstead:params:jmap:mail',
];

/** The session has ended: the browser goes to the sign-in page. */
export class SignedOut extends Error {}

/** A method answered with an error, or the box could not be reached. The message is for the reader. */
export class MailError extends Error {}

export interface OpenAccount {
  id: string;
  address: string;
  readOnly: boolean;
}

let account: OpenAccount | undefined;
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

/** Loads the JMAP session. RFC 8620 2. */
export async function openAccount(): Promise<OpenAccount> {
  const session = (await (await call('/mail/jmap/session')).json()) as {
    username: string;
    accounts: Record<string, { name: string; isReadOnly: boolean }>;
    capabilities: { 'urn:ietf:params:jmap:core': { maxConcurrentRequests: number } };
  };
  requests = new RequestQueue(Math.max(1, session.capabilities['urn:ietf:params:jmap:core'].maxConcurrentRequests - 1));
  const [first] = Object.entries(session.accounts);
  if (first === undefined) throw new MailError(t('error.no-mailbox'));
  account = { id: first[0], address: first[1].name, readOnly: first[1].isReadOnly };
  return account;
}

async function call(url: string, init: RequestInit = {}): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await reached(url, init);
    if (response.status === 401) throw new SignedOut(t('error.session'));
    if (response.ok) return response;
    const { detail, limit } = (await response.json().catch(() => ({}))) as { detail?: string; limit?: string };
    if (limit !== 'maxConcurrentRequests' || attempt === MAX_ATTEMPTS)
      throw new MailError(detail ?? t('error.answered', { status: String(response.status) }));
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

export type JmapCall = readonly [name: string, args: Record<string, unknown>];

/**
 * Runs method calls in one request and returns their results in order. The account is added; a call refers to an earlier one
 * by its position: `{ resultOf: '0', ... }`. Throws MailError for the first call that failed.
 */
export async function methods(...calls: readonly JmapCall[]): Promise<Record<string, unknown>[]> {
  const { id: accountId } = currentAccount();
  const methodCalls = calls.map(([name, args], at) => [name, { accountId, ...args }, String(at)]);
  const body = JSON.stringify({ using: USING, methodCalls });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const response = await requests.run(() => call('/mail/jmap/api', init));
  const { methodResponses } = (await response.json()) as { methodResponses: MethodResponse[] };
  return calls.map((_, at) => resultOf(methodResponses, String(at)));
}

/** The explicit result of a call; implicit calls of onSuccessUpdateEmail share its id. */
function resultOf(responses: readonly MethodResponse[], id: string): Record<string, unknown> {
  const found = responses.find(([, , one]) => one === id);
  if (found === undefined) throw new MailError(t('error.left-out'));
  const [name, result] = found;
  const { description, type } = result as { description?: string; type?: string };
  if (name === 'error') throw new MailError(description ?? t('error.failed', { type: type ?? '' }));
  return result;
}

export interface SetProblem {
  type: string;
  description?: string;
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
