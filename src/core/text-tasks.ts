import type { BodyPart } from '../../mail/jmap/email/body-part.ts';
import type { ComposedMessage } from '../../mail/message/compose-message.ts';
import type { MessageIndex } from '../../mail/message/index-types.ts';
import type { SecretLinks } from '../../mail/message/secret-link.ts';
import type { ReportContent } from '../../mail/reports/report-types.ts';

/** The encoded start of a body part, and how to decode it. Plain data: may be sent to another thread. */
export interface EncodedText {
  body: BodyPart;
  octets: Uint8Array;
}

/** Form of HTML converted to text: plain, or with markdown syntax. */
export type TextStyle = 'text' | 'markdown';

/** Counts of what was removed from a text before it was shown. */
export interface RemovedText {
  /** Characters hidden by styles. */
  hiddenChars: number;
  hiddenNodes: number;
  zeroWidth: number;
  tagChars: number;
  trackers: number;
  images: number;
}

/** `html`: sanitized HTML with its quotes. */
export type TextForm = TextStyle | 'html';

/** Body parts of a message to read. */
export interface ReadableParts {
  /** Parts for programs that show HTML. */
  html: readonly EncodedText[];
  /** Parts for other programs. */
  text: readonly EncodedText[];
  form: TextForm;
  /** True: collect links, which costs time. */
  links: boolean;
}

/** A link as shown to an agent: its host, never its URL. */
export interface Link {
  /** `link:1`, the same in every form of the message. */
  handle: string;
  /** Host as A-labels, the end of a long one; '' if there is none. */
  host: string;
  registrableDomain: string;
  flags: string[];
}

export interface MessageText {
  /** New text, and quoted text. */
  own: string;
  quoted: string;
  removed: RemovedText;
  /** Links in order of their handles, and their URLs. Empty if not requested. */
  links: readonly Link[];
  urls: readonly string[];
  /** True: more text follows that was not read. */
  cut: boolean;
  /** True: it holds far more text than a person sees. */
  divergent: boolean;
  /** True: it could not be read within the time limit. */
  unread: boolean;
  /** True: what a person sees has a link that signs in or decides, in pieces or in an encoding. */
  secretLink?: boolean;
}

/** Original body parts: plain texts, and HTML. */
export interface OriginalParts {
  text: readonly EncodedText[];
  html: readonly EncodedText[];
}

export interface OriginalTexts {
  /** Undefined if the message has none. */
  plain: string | undefined;
  html: string | undefined;
  /** The plain text, or the visible text of the HTML. */
  text: string;
  /** True: more text follows that was not read. */
  cut: boolean;
}

export interface FileText {
  text: string;
  removed: RemovedText;
  /** True: more text follows that was not read. */
  cut: boolean;
}

/** Header and start of an outgoing message, as text for the person who decides about it. */
export interface MessagePreview {
  from: string;
  to: string;
  cc: string;
  subject: string;
  date: string;
  text: string;
  truncated: boolean;
  /** True: it replies to or contains another message, whose author it may quote. */
  answers: boolean;
  attachments: { filename: string; contentType: string }[];
  /** Number of attachments not listed. */
  more: number;
}

/** Text of a PDF document. */
export interface PdfText {
  text: string;
  /** Invisible text: without ink, white, too small, or off the page. */
  hidden: string;
  pages: number;
  /** True: more text follows that was not read. */
  cut: boolean;
}

/** `later`: the reader is busy. `unreadable`: broken, encrypted, or over the limits. */
export type PdfOutcome = ({ kind: 'read' } & PdfText) | { kind: 'unreadable' | 'later' };

/** Index and digest of a message. */
export interface IndexedMessage {
  index: MessageIndex;
  /** Hex. */
  sha256: string;
}

/** Input and output of each task on untrusted text: plain data, for any thread. */
export interface TextTasks {
  texts: { job: ReadableParts; result: MessageText };
  opening: { job: EncodedText; result: string };
  original: { job: OriginalParts; result: OriginalTexts };
  file: { job: EncodedText; result: FileText };
  document: { job: { shown: string; hidden: string }; result: Omit<FileText, 'cut'> };
  mail: { job: { octets: Uint8Array; secretLinks: SecretLinks | undefined }; result: MessagePreview };
  compose: {
    job: { message: ComposedMessage; secretLinks: SecretLinks | undefined };
    result: IndexedMessage & { data: Uint8Array };
  };
  index: { job: { octets: Uint8Array; secretLinks: SecretLinks | undefined }; result: IndexedMessage };
  /** True if the first own words of a message are "stop". */
  stop: { job: { octets: Uint8Array; parts: string }; result: boolean };
  /** A DMARC or TLS report. */
  report: { job: { octets: Uint8Array; parts: string }; result: ReportContent };
}
export type TextTask = keyof TextTasks;

/** Reads untrusted text without blocking the calling thread. */
export interface TextTaskRunner {
  /** Returns undefined if the text takes too long; refuses with `unavailable` if too many tasks wait. */
  read<N extends TextTask>(name: N, job: TextTasks[N]['job']): Promise<TextTasks[N]['result'] | undefined>;
  /** The same for the texts of one organization: organizations take turns. */
  for(organization: number): TextTaskRunner;
}

/** Reads untrusted documents in a separate process. */
export interface DocumentReader {
  read(octets: Uint8Array): Promise<PdfOutcome>;
  /** The same for the documents of one organization: organizations take turns. */
  for(organization: number): DocumentReader;
}
