/** Objects of JMAP as web mail reads them. RFC 8620, 8621. */
export interface MailAddress {
  name: string | null;
  email: string;
}

export interface MailFolder {
  id: string;
  name: string;
  parentId: string | null;
  role: string | null;
  sortOrder: number;
  isSubscribed: boolean;
  totalEmails: number;
  unreadEmails: number;
  totalThreads: number;
  unreadThreads: number;
  myRights: FolderRights;
}

/** Rights of the reader in a folder. RFC 8621 2. */
export interface FolderRights {
  mayAddItems: boolean;
  mayRemoveItems: boolean;
  maySetSeen: boolean;
  maySetKeywords: boolean;
  mayCreateChild: boolean;
  mayRename: boolean;
  mayDelete: boolean;
}

/** An email as the list shows it. */
export interface EmailSummary {
  id: string;
  threadId: string;
  mailboxIds: Record<string, boolean>;
  keywords: Record<string, boolean>;
  from: MailAddress[] | null;
  to: MailAddress[] | null;
  subject: string | null;
  receivedAt: string;
  preview: string;
  hasAttachment: boolean;
}

export interface MessagePart {
  partId: string | null;
  blobId: string | null;
  size: number;
  name: string | null;
  type: string;
  charset: string | null;
  cid: string | null;
  disposition: string | null;
}

/** One finding of the spam filter, as a sentence. */
export interface FilterFinding {
  score: number;
  sentence: string;
}

/** An email as the reading pane shows it. */
export interface FullEmail extends EmailSummary {
  blobId: string;
  size: number;
  cc: MailAddress[] | null;
  bcc: MailAddress[] | null;
  replyTo: MailAddress[] | null;
  messageId: string[] | null;
  references: string[] | null;
  inReplyTo: string[] | null;
  sentAt: string | null;
  textBody: MessagePart[];
  htmlBody: MessagePart[];
  attachments: MessagePart[];
  bodyValues: Record<string, { value: string; isTruncated: boolean }>;
  'header:List-Unsubscribe:asURLs': string[] | null;
  /** Missing in shared accounts, as the next one. */
  'mailstead:trust'?: { alignedFrom?: unknown; knownSender?: unknown; externalSender?: unknown; auth?: unknown } | null;
  'mailstead:verdict'?: { outcome: string; score: number; findings: Record<string, unknown>[] } | null;
}

export interface MailIdentity {
  id: string;
  name: string;
  email: string;
  textSignature: string;
  htmlSignature: string;
}

export type MethodResponse = [name: string, result: Record<string, unknown>, id: string];
