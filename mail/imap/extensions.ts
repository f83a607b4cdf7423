import type { Login } from '../login/types.ts';
import type { ImapLimits } from './limits.ts';

/** The facts of a connection that decide which capabilities it is offered. */
export interface CapabilityPeer {
  /** Undefined before login. */
  readonly login: Login | undefined;
  readonly encrypted: boolean;
  readonly context: { readonly limits: ImapLimits; readonly uidOnly: boolean; jmapUrl(): string | undefined };
}

/** A capability as advertised, or one that is advertised only to some connections. */
export type Capability =
  | string
  | {
      readonly name: string;
      isOffered(peer: CapabilityPeer): boolean;
    };

/** One row of the table in docs/imap.md. */
export interface ExtensionRow {
  /** RFC numbers, or the name of a draft. */
  readonly rfc: string;
  /** The use that clients make of it, in a few words. */
  readonly use: string;
}

/**
 * The table of docs/imap.md, by capability. Tests compare it with the capabilities that the
 * commands advertise, and `npm run docs` writes the page.
 */
export const EXTENSIONS: Readonly<Record<string, ExtensionRow>> = {
  ACL: { rfc: '4314', use: 'shares mailboxes with people of the organization' },
  'APPENDLIMIT=': { rfc: '7889', use: 'the largest message that APPEND takes, before it is sent' },
  'AUTH=': { rfc: '4422', use: 'SASL mechanisms of AUTHENTICATE' },
  BINARY: { rfc: '3516', use: 'FETCH of parts without their transfer encoding, APPEND of binary parts' },
  CATENATE: { rfc: '4469', use: 'APPEND makes a message of texts and of parts of other messages' },
  CHILDREN: { rfc: '3348', use: 'LIST shows which mailboxes have children' },
  'COMPRESS=DEFLATE': { rfc: '4978', use: 'compresses both directions, after login' },
  CONDSTORE: { rfc: '7162', use: 'mod-sequences: FETCH of what changed, STORE only of what did not' },
  'CONTEXT=SEARCH': { rfc: '5267', use: 'SEARCH returns parts of a result, and sends what joins and leaves it' },
  'CONTEXT=SORT': { rfc: '5267', use: 'the same for SORT' },
  'CREATE-SPECIAL-USE': { rfc: '6154', use: 'CREATE with a special use: `CREATE Bin (USE (\\Trash))`' },
  ENABLE: { rfc: '5161', use: 'switches on extensions that change responses' },
  ESEARCH: { rfc: '4731', use: 'SEARCH returns counts, bounds and ranges instead of all numbers' },
  ESORT: { rfc: '5267', use: 'SORT returns counts, bounds and parts instead of all numbers' },
  'I18NLEVEL=1': { rfc: '5255', use: 'letters compare without case in all scripts (i;unicode-casemap)' },
  ID: { rfc: '2971', use: 'names of client and server, for the logs' },
  IDLE: { rfc: '2177', use: 'changes are sent when they happen' },
  IMAP4rev1: { rfc: '3501', use: 'the protocol that every client speaks' },
  IMAP4rev2: { rfc: '9051', use: 'after ENABLE: ESEARCH responses, names in UTF-8, no \\Recent' },
  INPROGRESS: { rfc: '9585', use: 'long searches report that they go on' },
  JMAPACCESS: { rfc: '9698', use: 'GETJMAPACCESS returns where the same mailbox is by JMAP' },
  'LIST-EXTENDED': { rfc: '5258', use: 'several patterns, selection and return options in one LIST' },
  'LIST-METADATA': { rfc: '9590', use: 'LIST returns entries of METADATA too' },
  'LIST-MYRIGHTS': { rfc: '8440', use: 'LIST returns the rights on each mailbox too' },
  'LIST-STATUS': { rfc: '5819', use: 'LIST returns the counters of each mailbox too' },
  'LITERAL+': { rfc: '7888', use: 'literals without waiting for the server' },
  'LITERAL-': { rfc: '7888', use: 'the same before login, up to 4,096 octets' },
  LOGINDISABLED: { rfc: '9051', use: 'no login before TLS' },
  METADATA: { rfc: '5464', use: 'comments and settings of mailboxes, /private/ and /shared/' },
  MOVE: { rfc: '6851', use: 'moves messages in one step' },
  MULTIAPPEND: { rfc: '3502', use: 'APPEND stores several messages, or none' },
  MULTISEARCH: { rfc: '7377', use: 'ESEARCH searches several mailboxes at once' },
  NAMESPACE: { rfc: '2342', use: 'prefixes and hierarchy separator of mailbox names' },
  NOTIFY: { rfc: '5465', use: 'changes of other mailboxes are sent when they happen, without polling' },
  PARTIAL: { rfc: '9394', use: 'SEARCH and FETCH return a page of a result, also from its end' },
  OBJECTID: {
    rfc: '8474',
    use: 'ids of messages, threads and mailboxes that stay when they move; the same as by JMAP',
  },
  PREVIEW: { rfc: '8970', use: 'FETCH returns the begin of the text, as a list shows it' },
  QRESYNC: { rfc: '7162', use: 'SELECT reports all changes and expunges since the last session' },
  QUOTA: { rfc: '9208', use: 'usage and limits of the account' },
  'QUOTA=RES-MESSAGE': { rfc: '9208', use: 'the limit of messages' },
  'QUOTA=RES-STORAGE': { rfc: '9208', use: 'the limit of storage, and what EXPUNGE would free' },
  REPLACE: { rfc: '8508', use: 'stores a new version of a draft and expunges the old one in one step' },
  'RIGHTS=kxten': { rfc: '4314', use: 'the rights of ACL beyond those of RFC 2086' },
  'SASL-IR': { rfc: '4959', use: 'AUTHENTICATE in one round trip' },
  SAVEDATE: { rfc: '8514', use: 'FETCH and SEARCH of the time when a message came into its mailbox' },
  'SAVELIMIT=': { rfc: '9738', use: 'the most messages of one APPEND' },
  'SEARCH=FUZZY': { rfc: '6203', use: 'FUZZY searches words by the full-text index, with their relevancy' },
  SEARCHRES: { rfc: '5182', use: '`$` stands for the result of the last search in the next command' },
  SORT: { rfc: '5256', use: 'sorts by date, sender, subject, size and more' },
  'SORT=DISPLAY': { rfc: '5957', use: 'sorts by the names that mail programs show' },
  'SPECIAL-USE': { rfc: '6154', use: 'LIST names the mailboxes for drafts, sent mail, junk and trash' },
  STARTTLS: { rfc: '9051', use: 'TLS on the port 143' },
  'STATUS=SIZE': { rfc: '8438', use: 'STATUS returns the octets of a mailbox' },
  'THREAD=ORDEREDSUBJECT': { rfc: '5256', use: 'threads by subject' },
  'THREAD=REFERENCES': { rfc: '5256', use: 'threads by replies, then by subject' },
  'THREAD=REFS': { rfc: 'draft-ietf-morg-inthread', use: 'threads by replies only, the newest last' },
  UIDBATCHES: { rfc: '10022', use: 'ranges of UIDs with so many messages each' },
  UIDONLY: {
    rfc: '9586',
    use: 'after ENABLE: messages are named by UID alone; offered when MAILSTEAD_IMAP_UIDONLY is on',
  },
  UIDPLUS: { rfc: '4315', use: 'UIDs of appended and copied messages, UID EXPUNGE' },
  UNAUTHENTICATE: { rfc: '8437', use: 'logs out and keeps the connection for another login' },
  UNSELECT: { rfc: '3691', use: 'closes a mailbox without expunging' },
  'URL-PARTIAL': { rfc: '5550', use: 'URLs of CATENATE name a range of octets' },
  'UTF8=ACCEPT': { rfc: '6855', use: 'after ENABLE: mailbox names and quoted strings in UTF-8' },
  WITHIN: { rfc: '5032', use: 'SEARCH by age in seconds' },
};
