import { z } from 'zod';

const passed = z.enum(['pass', 'fail', 'none']);

/** Trust facts determined by this box; none are claims of the message. */
export const TrustFacts = z.object({
  auth: z.object({ spf: passed, dkim: passed, dmarc: passed }),
  alignedFrom: z.boolean(),
  knownSender: z.boolean(),
  verdict: z.enum(['clear', 'suspicious', 'quarantined']),
  flags: z.array(z.string()),
  externalSender: z.boolean(),
});

const SummaryAddress = z.object({ address: z.string() });

/** List line of a message: facts, and separately the sender's text. */
export const MsgSummary = z.object({
  id: z.string(),
  threadId: z.string(),
  mailboxId: z.string(),
  from: SummaryAddress.nullable(),
  to: z.array(SummaryAddress),
  cc: z.array(SummaryAddress),
  moreRecipients: z.number().optional().describe('recipients not shown; get_message shows more'),
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
  trust: TrustFacts.nullable().describe('null: not filtered (written or imported here)'),
  untrusted: z.object({
    subject: z.string(),
    snippet: z.string(),
    fromName: z.string(),
    filenames: z.array(z.string()),
  }),
});
export type MsgSummary = z.output<typeof MsgSummary>;
