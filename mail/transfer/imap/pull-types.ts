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

/** Comparison of one folder at the end of a pull. */
export interface FolderProof {
  /** Name there. */
  source: string;
  /** Name here. */
  folder: string;
  /** Messages there and here. */
  there: number;
  here: number;
  /** SHA-256 over content, time and flags of every message, there and here. */
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

/** Proof of a pull. */
export interface PullProof {
  equal: boolean;
  folders: FolderProof[];
  differences: PullDifference[];
  moreDifferences: number;
}
