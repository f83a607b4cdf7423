import type { Authentication } from '../auth/authentication.ts';
import type { Field } from '../message/header.ts';

/** A link of a message. */
export interface SampleLink {
  /** URL as written, at most 2,048 characters. */
  url: string;
  /** Visible text; '' if that is the URL itself. */
  text: string;
}

/** A part that is not body text. */
export interface SamplePart {
  /** `type/subtype` in lower case. */
  type: string;
  /** File name, decoded; '' for none. */
  name: string;
  /** Decoded octets. */
  size: number;
  /** First decoded octets, at most 8 KiB. */
  head: Buffer;
  /** Directory of an archive or an office document. */
  contents?: ContainerContents;
}

/** Directory of an archive or an office document, read without unpacking it. */
export interface ContainerContents {
  /** File names, at most 200. */
  names: readonly string[];
  /** Contains encrypted entries. */
  locked: boolean;
  /** Contains VBA macros. */
  macros: boolean;
  /** It cannot be inspected: RAR and 7z. */
  opaque?: boolean;
}

/** Parsed message for all checks; every part has a size limit. */
export interface Sample {
  peer: {
    ip: string;
    helo: string;
    /** Verified reverse name (iprev, RFC 8601 2.7.3); '' for none. */
    name: string;
  };
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  /** Trusted ARC sealer that forwarded the message and saw the author authenticated. */
  sealer?: string;
  /** Header fields, up to the parser limits. */
  fields: readonly Field[];
  /** Decoded subject. */
  subject: string;
  /** Address key of From; '' unless there is exactly one address. */
  author: string;
  /** Visible text, decoded, without markup; at most 256 Ki characters. */
  text: string;
  /** HTML source, decoded; '' for none; at most 256 Ki characters. */
  html: string;
  /** At most 200. */
  links: readonly SampleLink[];
  /** At most 100. */
  parts: readonly SamplePart[];
  authentication: Authentication;
}
