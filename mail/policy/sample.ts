import type { Authentication } from '../auth/authentication.ts';
import type { Field } from '../message/header.ts';

/** A link as a message shows it. */
export interface SampleLink {
  /** As written, at most 2,048 characters. */
  url: string;
  /** What a reader sees in its place; '' where that is the address itself. */
  text: string;
}

/** A part that is no text of the message itself. */
export interface SamplePart {
  /** `type/subtype` in lower case. */
  type: string;
  /** The file name that is offered, decoded; '' when there is none. */
  name: string;
  /** Decoded octets. */
  size: number;
  /** How its decoded octets begin, at most 8 KiB. */
  head: Buffer;
  /** What the directory in it says, where it is an archive or an office document. */
  inside?: Inside;
}

/** What an archive or an office document tells of itself without being opened. */
export interface Inside {
  /** Of the files in it, at most 200. */
  names: readonly string[];
  /** Something in it cannot be read without a password. */
  locked: boolean;
  /** It brings programs of its own (VBA). */
  macros: boolean;
  /** Its directory is packed: what is in it cannot be told without unpacking it. */
  closed?: boolean;
}

/** What checks look at: a message taken apart once, every piece of it bounded. */
export interface Sample {
  peer: {
    ip: string;
    helo: string;
    /** The name that the address has and that leads back to it (RFC 8601 2.7.3); '' when there is none. */
    name: string;
  };
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  /** A trusted domain that passed it on, and found that its author was proved before it changed it. */
  sealer?: string;
  /** Of its header, as far as headers are read. */
  fields: readonly Field[];
  /** Decoded. */
  subject: string;
  /** Address in From, in the form in which addresses are compared; '' when there is not exactly one. */
  author: string;
  /** What a person reads, decoded, markup removed; at most 256 KiB of characters. */
  text: string;
  /** The HTML as it is, decoded; '' when there is none; at most 256 KiB of characters. */
  html: string;
  /** At most 200. */
  links: readonly SampleLink[];
  /** At most 100. */
  parts: readonly SamplePart[];
  authentication: Authentication;
}
