import { EMAIL_SORTS } from '../email-query/email-sort.ts';
import { createHash } from 'node:crypto';
import { MAX_LEVEL_OCTETS } from '../../message/mailbox-level.ts';
import { MAX_MAILBOX_DEPTH } from '../../store/mailbox/mailbox.ts';
import { MAX_MAILBOXES_PER_EMAIL } from '../../store/message/email-commands.ts';
import { DIGEST_NAMES } from '../blob/blob-get.ts';
import { MAX_DATA_SOURCES } from '../blob/blob-upload.ts';
import { LOOKUP_TYPES } from '../blob/blob-lookup.ts';
import { MAX_DELAYED_SEND } from '../submission/envelope.ts';
import {
  BLOB,
  CORE,
  JMAP_LIMITS,
  MAIL,
  MAILSTEAD,
  maxSizeAttachmentsPerEmail,
  MDN,
  QUOTA,
  SUBMISSION,
  VACATION,
  WEBPUSH_VAPID,
  WEBSOCKET,
} from './capabilities.ts';
import type { Access, JmapContext, JmapSession } from './method.ts';

/** Supported collations. RFC 4790, 5051. */
const COLLATIONS = ['i;ascii-casemap', 'i;unicode-casemap'];

/** The Session object. `base` is the origin of the client's request, without trailing slash. RFC 8620 2. */
export function sessionObject(context: JmapContext, session: JmapSession, base: string): Record<string, unknown> {
  const accounts = [...session.accounts].map(([id, access]) => [id, accountObject(access, context)] as const);
  const [first] = session.accounts.keys();
  const primary =
    first === undefined ? [] : Object.keys(accounts[0]?.[1].accountCapabilities ?? {}).map((uri) => [uri, first]);
  return {
    capabilities: {
      [CORE]: { ...context.limits, collationAlgorithms: COLLATIONS },
      ...serverCapabilities(),
      ...webSocket(base),
      [WEBPUSH_VAPID]: { applicationServerKey: context.push.publicKey },
    },
    accounts: Object.fromEntries(accounts),
    primaryAccounts: Object.fromEntries(primary),
    username: session.username,
    apiUrl: `${base}/jmap/api`,
    downloadUrl: `${base}/jmap/download/{accountId}/{blobId}/{name}?accept={type}`,
    uploadUrl: `${base}/jmap/upload/{accountId}`,
    eventSourceUrl: `${base}/jmap/eventsource?types={types}&closeafter={closeafter}&ping={ping}`,
    state: sessionState(session),
  };
}

function accountObject(access: Access, context: JmapContext) {
  const { address, readOnly } = access;
  return {
    name: address,
    isPersonal: access.shared === undefined,
    isReadOnly: readOnly,
    accountCapabilities:
      access.shared === undefined
        ? accountCapabilities(access, context.maxMessageBytes)
        : { [CORE]: {}, [MAIL]: mailCapability(access, context.maxMessageBytes) },
  };
}

/** WebSocket capability. RFC 8887 3. */
function webSocket(base: string): Record<string, object> {
  return { [WEBSOCKET]: { url: `${base.replace(/^http/, 'ws')}/jmap/ws`, supportsPush: true } };
}

/** The accountCapabilities object of one account. RFC 8621 1.3, 9404 3. */
function accountCapabilities(access: Access, maxMessageBytes: number): Record<string, object> {
  return {
    [CORE]: {},
    [MAIL]: mailCapability(access, maxMessageBytes),
    [SUBMISSION]: submissionCapability(maxMessageBytes),
    [VACATION]: {},
    [BLOB]: {
      maxSizeBlobSet: JMAP_LIMITS.maxSizeUpload,
      maxDataSources: MAX_DATA_SOURCES,
      supportedTypeNames: LOOKUP_TYPES,
      supportedDigestAlgorithms: DIGEST_NAMES,
    },
    [QUOTA]: {},
    [MDN]: {},
    [MAILSTEAD]: {},
  };
}

function mailCapability({ readOnly, shared }: Access, maxMessageBytes: number): Record<string, unknown> {
  return {
    maxMailboxesPerEmail: MAX_MAILBOXES_PER_EMAIL,
    maxMailboxDepth: MAX_MAILBOX_DEPTH,
    maxSizeMailboxName: MAX_LEVEL_OCTETS,
    maxSizeAttachmentsPerEmail: maxSizeAttachmentsPerEmail(maxMessageBytes),
    emailQuerySortOptions: EMAIL_SORTS,
    mayCreateTopLevelMailbox: !readOnly && shared === undefined,
  };
}

/** Session capabilities other than the core; all are empty objects at this level. */
function serverCapabilities(): Record<string, object> {
  return Object.fromEntries([MAIL, SUBMISSION, VACATION, BLOB, QUOTA, MDN, MAILSTEAD].map((uri) => [uri, {}]));
}

/**
 * The submission capability of an account: SMTP extensions with their EHLO arguments. RFC 8621 1.3.2. FUTURERELEASE has
 * only the interval: a date would change the session object every second.
 */
function submissionCapability(maxMessageBytes: number): {
  maxDelayedSend: number;
  submissionExtensions: Record<string, string[]>;
} {
  return {
    maxDelayedSend: MAX_DELAYED_SEND,
    submissionExtensions: {
      FUTURERELEASE: [String(MAX_DELAYED_SEND)],
      SIZE: [String(maxMessageBytes)],
      DSN: [],
      SMTPUTF8: [],
      REQUIRETLS: [],
    },
  };
}

/** State of the Session object; changes with its content. RFC 8620 2. */
export function sessionState(session: JmapSession): string {
  const facts = [
    session.username,
    ...[...session.accounts].flatMap(([id, one]) => [
      id,
      one.address,
      one.readOnly,
      one.mayTransmit,
      one.shared !== undefined,
    ]),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 16);
}
