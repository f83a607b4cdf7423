/** State of an export. */
export interface ExportStatus {
  id: string;
  state: 'running' | 'done' | 'failed';
  /** Path of the result. */
  path: string;
  account: number;
  tenant: number;
  messages: number;
  bytes: number;
  /** Messages that could not be read, by name. */
  damaged: readonly string[];
  /** Reason of a failure, with the next step; null: none. */
  problem: string | null;
}

/** The export of one mailbox. */
export interface ExportRequest {
  tenant: number;
  account: number;
  address: string;
  format: 'mbox' | 'maildir' | 'eml';
  /** Path of the result; undefined: a file for a download, which is deleted after a day. */
  path: string | undefined;
  /** Creates the directory of the path. */
  createDirectory?: boolean;
}

/** Runs imports and exports. */
export interface MailTransfers {
  /** Starts a stored job, or resumes it. Never rejects. */
  startImport(id: number): void;
  /** Stops a job that runs. */
  stopImport(id: number): void;
  /** Starts an export. Undefined: too many run now. */
  startExport(request: ExportRequest): Promise<ExportStatus | undefined>;
  /** Status of an export of this run of the server. */
  exportStatus(id: string): ExportStatus | undefined;
  /** Path of the file that an upload for a job is written to. */
  uploadPath(id: number): string;
}
