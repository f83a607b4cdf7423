/** A step of a start that changes the tables of an earlier version. Plain data, as it crosses threads. */
export type UpgradeStep =
  /** The database is copied to `draft`, which grows to about `octets`. */
  | { kind: 'copy'; draft: string; octets: number }
  /** Migration `number` of `total` is applied. */
  | { kind: 'migrate'; migration: string; number: number; total: number };

/** Called when a step begins. */
export type ReportUpgrade = (step: UpgradeStep) => void;
