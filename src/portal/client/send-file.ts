import { ServerSentence, type UploadWords } from './upload-words.ts';

/**
 * Octets of one request: few enough that a slow line sends them within the five minutes that the server gives a request, and that
 * an interrupted upload goes on almost where it ended.
 */
const PART = 16 * 1024 * 1024;
/** Pauses before further attempts to send a part. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000];

/** An upload, and how far it is. */
export interface UploadTarget {
  file: File;
  url: string;
  /** Octets that the server has. */
  sent: number;
  /** Its link cannot be used any more. */
  isLost: boolean;
}

interface SendOptions {
  onProgress: (octets: number) => void;
  signal: AbortSignal;
  words: UploadWords;
}

interface PartResponse {
  /** 0: the connection was lost. */
  status: number;
  text: string;
  /** Seconds that the server asks to wait; 0: none. */
  retryAfter: number;
}

/** Sends the rest of a file in parts. Throws a sentence for people; what was sent until then stays. */
export async function sendFile(target: UploadTarget, options: SendOptions): Promise<void> {
  while (target.sent < target.file.size) {
    options.onProgress(target.sent);
    target.sent = await sendPart(target, Math.min(target.sent + PART, target.file.size), options);
  }
}

/** Sends one part until the server has it. Returns its end. */
async function sendPart(target: UploadTarget, end: number, options: SendOptions): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const { status, text, retryAfter } = await put(target, end, options);
    if (status === 201 || status === 202) return end;
    // The server had got the whole file, and its response was lost.
    if (status === 409 && attempt > 0 && end === target.file.size) return end;
    const pause = PAUSES_MS[attempt];
    const mayPass = status === 0 || status === 429 || status >= 500;
    if (!mayPass || pause === undefined) throw failure(target, status, text, options.words);
    await wait(Math.max(pause, retryAfter * 1_000), options.signal);
  }
}

function put(
  { file, url, sent }: UploadTarget,
  end: number,
  { onProgress, signal }: SendOptions,
): Promise<PartResponse> {
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  const stop = (): void => request.abort();
  signal.addEventListener('abort', stop);
  return new Promise<PartResponse>((resolve, reject) => {
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(Math.min(sent + loaded, end)));
    request.addEventListener('abort', () => reject(new Error('stopped')));
    request.addEventListener('loadend', () => {
      const retryAfter = Number(request.getResponseHeader('retry-after') ?? 0) || 0;
      resolve({ status: request.status, text: request.responseText, retryAfter });
    });
    request.open('PUT', url);
    request.setRequestHeader('content-range', `bytes ${sent}-${end - 1}/${file.size}`);
    request.send(file.slice(sent, end));
  }).finally(() => signal.removeEventListener('abort', stop));
}

/** Says what happened and what to do next, in the words of the server if it said any. */
function failure(target: UploadTarget, status: number, text: string, words: UploadWords): Error {
  if (status === 0) return new Error(words.connectionLost);
  target.isLost = status === 404 || status === 409;
  const said = messageIn(text);
  if (target.isLost) return new Error(`${words.lost(said)} ${words.fromBeginning}`);
  if (said !== undefined) return new ServerSentence(said);
  return new Error(status === 413 ? words.largeParts : words.serverError(status));
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(new Error('stopped'))), { once: true });
  });
}
