/** An account of another server. */
export interface RemoteAccount {
  /** Name of the host, for its certificate. */
  host: string;
  /** Checked address of the host. */
  ip: string;
  port: number;
  tls: 'implicit' | 'starttls' | 'none';
  /** True: a certificate that cannot be verified is accepted. */
  anyCertificate: boolean;
  user: string;
  secret: { password: string } | { accessToken: string };
}

/** Options of a pull. */
export interface PullOptions {
  labels: 'keywords' | 'folders';
  /** Removes here what was deleted there. */
  deletions: boolean;
  /** Messages a second; 0: no limit. */
  perSecond: number;
  /** Folder here that all folders are pulled below; undefined: none. */
  below: string | undefined;
  maxOctets: number;
}

/** The pull of one remote account into one account here. */
export interface PullPlan {
  account: number;
  remote: RemoteAccount;
  options: PullOptions;
  pass: number;
  clock: () => number;
  stop: AbortSignal;
  /** Pause after the first failure, which doubles with each; half a second if left out. */
  firstPauseMs?: number;
}

/** Comparison of one folder at the end of a pull. */
export interface FolderProof {
  /** Name there. */
  source: string;
  /** Name here. */
  folder: string;
  /** Messages there and here. */
  there: number;
  here: number;
  /** Messages that people or programs changed or deleted here after they were pulled. */
  changedHere: number;
  /** SHA-256 over content, time and flags of every message, there and here; deletions and changes here do not count. */
  thereHash: string;
  hereHash: string;
  equal: boolean;
}

/** A difference between both sides, by name. */
export interface PullDifference {
  folder: string;
  /** UID there. */
  uid: number;
  problem: string;
}

/** Folders there that were not pulled, for one reason. */
export interface OmittedFolders {
  /** Why, and what to do. */
  problem: string;
  count: number;
  /** Names of the first of them. */
  folders: string[];
}

/** Proof of a pull. */
export interface PullProof {
  /** True: nothing was omitted, and all folders are equal except for changes here. */
  equal: boolean;
  omitted: OmittedFolders[];
  folders: FolderProof[];
  differences: PullDifference[];
  moreDifferences: number;
  /** Messages that were changed or deleted here after they were pulled: no differences. */
  changedHere: PullDifference[];
  moreChangedHere: number;
}
