import type { PullOptions, RemoteAccount } from '../../mail/transfer/imap/pull-types.ts';

/** A file or directory to import. */
export interface FileSpec {
  kind: 'file';
  /** Absolute; null: the upload of the job. */
  path: string | null;
  /** Name of an uploaded file that decides what it is and names its folder; null: its content decides. */
  name: string | null;
  /** Name of an uploaded file on the computer of the person who chose it, for the list of imports. */
  fileName?: string | undefined;
  /** Folder that everything is imported below; null: none. */
  folder: string | null;
}

/** An account of another server to pull, without its password. */
export interface ImapSpec extends Pick<PullOptions, 'labels' | 'deletions' | 'perSecond'> {
  kind: 'imap';
  host: string;
  port: number;
  tls: RemoteAccount['tls'];
  anyCertificate: boolean;
  user: string;
  auth: 'password' | 'oauth';
  folder: string | null;
}

/** `node`: the one that runs it, where several share the database. */
export type ImportSpec = (FileSpec | ImapSpec) & { node?: string | undefined };

/** Purpose and table of the sealed password of a job. */
export const IMPORT_SECRET = ['import', 'import_job'] as const;
