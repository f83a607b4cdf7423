import { StoreBusy } from '../../mail/store/engine/types.ts';
import { LoginRefused, RemoteUnavailable } from '../../mail/transfer/imap/remote-failure.ts';
import { ImportStopped } from '../../mail/transfer/importer.ts';
import type { ImportSpec } from './import-spec.ts';

const HOUR_MS = 3_600_000;
/** Patience with a server that answered before, and with this one. */
const LONG_MS = 7 * 24 * HOUR_MS;
/** Patience with a server that never let the import in: its name or its port may be wrong. */
const NEW_MS = HOUR_MS;
/**
 * Patience with a login that succeeded before: servers refuse all logins while their user database is away. Few attempts in a
 * minute, as others block an address that fails more often.
 */
const REFUSED_MS = 2 * HOUR_MS;

/** Errors of the file system of this server that pass. */
const PASSING_CODES = new Set([
  'EMFILE',
  'ENFILE',
  'EAGAIN',
  'EBUSY',
  'EIO',
  'ENOMEM',
  'ENOSPC',
  'ESTALE',
  'ETIMEDOUT',
]);

/** The address of the other server cannot be looked up now. */
export class LookupFailed extends Error {
  override readonly name = 'LookupFailed';
}

/** Time that a failure may last before the import has failed, ms; undefined: trying again does not mend it. */
export function patienceFor(error: unknown, spec: ImportSpec, hasBegun: boolean): number | undefined {
  // An access token ends after an hour: the same one is refused for ever.
  if (error instanceof LoginRefused) {
    return hasBegun && spec.kind === 'imap' && spec.auth === 'password' ? REFUSED_MS : undefined;
  }
  if (error instanceof RemoteUnavailable || error instanceof LookupFailed) return hasBegun ? LONG_MS : NEW_MS;
  const isHere = error instanceof ImportStopped || error instanceof StoreBusy;
  return isHere || PASSING_CODES.has((error as NodeJS.ErrnoException).code ?? '') ? LONG_MS : undefined;
}

/** Why an import waits. */
export function waitSentence(error: unknown, spec: ImportSpec): string {
  return `It waits, and goes on by itself: ${reasonOf(error, spec)}`;
}

/** Why an import failed, for people: what happened and what to do next. */
export function failureSentence(error: unknown, spec: ImportSpec): string {
  const { code } = error as NodeJS.ErrnoException;
  if (spec.kind === 'file') {
    if (code === 'ENOENT') return `${spec.path ?? 'The upload'} does not exist on the server: check the path.`;
    if (code === 'EACCES')
      return `The server may not read ${spec.path ?? 'the upload'}: give its user the right to, then import again.`;
    return `${reasonOf(error, spec)} Messages before it are imported; a new import adds nothing twice.`;
  }
  if (error instanceof LoginRefused)
    return `${reasonOf(error, spec)} Check the user name and the app password or token.`;
  return `${reasonOf(error, spec)} What was pulled stays: start the import again, it goes on where it ended.`;
}

function reasonOf(error: unknown, spec: ImportSpec): string {
  const message = (error as Error).message.slice(0, 500);
  if (spec.kind === 'file') return ended(message);
  if (error instanceof LoginRefused)
    return `${spec.host} refused the login of ${spec.user}: "${message.slice(0, 300)}".`;
  if (error instanceof RemoteUnavailable) return ended(`${spec.host} cannot be used now: ${message}`);
  return ended(message);
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
