import { z } from 'zod';

const passed = z.enum(['pass', 'fail', 'none']);

/** What this box found out about a message; nothing of it is read from the message. */
export const ShownTrust = z.object({
  auth: z.object({ spf: passed, dkim: passed, dmarc: passed }),
  alignedFrom: z.boolean(),
  knownSender: z.boolean(),
  verdict: z.enum(['clear', 'suspicious', 'quarantined']),
  flags: z.array(z.string()),
  externalSender: z.boolean(),
});

const Addr = z.object({ address: z.string() });

/** One line of a list: facts, and apart from them what the sender wrote. */
export const MsgSummary = z.object({
  id: z.string(),
  threadId: z.string(),
  mailboxId: z.string(),
  from: Addr.nullable(),
  to: z.array(Addr),
  cc: z.array(Addr),
  moreRecipients: z.number().optional().describe('that are not shown; get_message shows more'),
  receivedAt: z.string(),
  direction: z.enum(['in', 'out']),
  unread: z.boolean(),
  starred: z.boolean(),
  labels: z.array(z.string()),
  moreLabels: z.number().optional(),
  hasAttachments: z.boolean(),
  moreFilenames: z.number().optional(),
  sizeBytes: z.number(),
  claim: z.object({ by: z.string(), until: z.string() }).optional().describe('an agent works on the conversation'),
  trust: ShownTrust.nullable().describe('null: not judged: written or put here, no checks'),
  untrusted: z.object({
    subject: z.string(),
    snippet: z.string(),
    fromName: z.string(),
    filenames: z.array(z.string()),
  }),
});
export type MsgSummary = z.output<typeof MsgSummary>;
