/** Result of a run, with a sentence for people. `superseded`: a newer revision replaced this one and runs. */
export interface ServiceRun {
  state: 'running' | 'failed' | 'superseded';
  detail: string;
}

export interface LogLine {
  at: string;
  text: string;
}

/** Runs services by their controls. */
export interface ServiceRunner {
  /** Runs a revision if it is still the current one. Never rejects. */
  apply(service: { id: number; revision: number }): Promise<ServiceRun>;
  /** Stops a service and deletes its log. */
  remove(service: number): Promise<void>;
  /** Returns the newest lines of a service's log, oldest first. */
  logs(service: { id: number; control: string }, wanted: { since: number; limit: number }): Promise<LogLine[]>;
}
