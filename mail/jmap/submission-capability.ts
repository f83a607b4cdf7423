import { MAX_DELAYED_SEND } from './submission/smtp-parameters.ts';

/**
 * What an account says of the submission capability. RFC 8621 1.3.2: names of SMTP extensions with the arguments that
 * EHLO would show. Of FUTURERELEASE only the interval: its date would be another one in each session object.
 */
export function submissionCapability(maxMessageBytes: number): {
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
