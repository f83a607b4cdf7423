import { isAscii } from 'node:buffer';
import { type Address, needsUtf8 } from '../message/address.ts';
import { readFields } from '../message/header.ts';
import { indexMessage } from '../message/indexer.ts';
import type { SecretLinkForms } from '../message/secret-link.ts';
import type { SubmissionDraft, Submitter } from './submission-draft.ts';

/** A message that a program writes in the name of an account. */
export interface AutomaticMail {
  submitter: Submitter & { account: number };
  author: Address;
  to: readonly Address[];
  trace: string;
  bytes: Uint8Array;
}

/**
 * Creates the draft of an automatic message with the null reverse-path, so that it never bounces. RFC 3834 3.3, RFC 8098 3.
 */
export function automaticDraft(
  { submitter, author, to, trace, bytes }: AutomaticMail,
  links: SecretLinkForms | undefined,
): SubmissionDraft {
  const data = Uint8Array.from(bytes);
  const index = indexMessage(data, links);
  return {
    trace,
    protocol: 'automatic',
    submitter,
    sender: undefined,
    recipients: to.map((address) => ({ address })),
    message: {
      index,
      octets: { data, file: null },
      fields: readFields(Buffer.from(data.buffer, 0, index.headerLength).toString('latin1')),
      authors: [author],
      signAs: [author.domain],
      eightBit: !isAscii(data),
      smtputf8: needsUtf8(author),
    },
    ret: '',
    envid: '',
    sendAt: null,
    skipsSuppressed: false,
  };
}
