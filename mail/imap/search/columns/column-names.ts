/** Header fields whose texts are kept for a whole mailbox: those that clients search. */
export const COLUMN_FIELDS = ['subject', 'from', 'to', 'cc', 'bcc'] as const;
export type ColumnField = (typeof COLUMN_FIELDS)[number];

/** Stored SORT keys, as the columns of the table email are named. */
export type KeyColumn = 'subj' | 'from_k' | 'to_k' | 'cc_k' | 'from_d' | 'to_d';
