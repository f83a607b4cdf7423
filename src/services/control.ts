/**
 * Way to run a service, and names of variables that its environment may have. Set by the operator at the command line: it
 * names programs of the machine, and many names make a program load other code.
 */
export type ServiceControl = { variables?: string[] } & (
  | { kind: 'none' }
  /** Program and arguments; no shell. `uid`: user and group that it runs as; missing before version 0.2. */
  | { kind: 'command'; command: string[]; uid?: number }
  | { kind: 'systemd'; unit: string }
  /** `file`: absolute path of a compose file. */
  | { kind: 'compose'; file: string; service: string }
);

/** Parses a stored control, validated when it was set (src/operations/operator/services.ts). */
export function controlOf(text: string): ServiceControl {
  return JSON.parse(text) as ServiceControl;
}

/** Command that starts or restarts a service. */
export function applyCommand(control: Extract<ServiceControl, { kind: 'systemd' | 'compose' }>): string[] {
  if (control.kind === 'systemd') return ['systemctl', 'restart', '--', control.unit];
  return ['docker', 'compose', '-f', control.file, 'up', '-d', '--force-recreate', '--no-deps', control.service];
}

/** Command that prints the newest `limit` log lines. */
export function logCommand(control: Extract<ServiceControl, { kind: 'systemd' | 'compose' }>, limit: number): string[] {
  if (control.kind === 'systemd') {
    return ['journalctl', '--no-pager', '-o', 'short-iso', '-n', String(limit), '-u', control.unit];
  }
  return ['docker', 'compose', '-f', control.file, 'logs', '--no-color', '-t', '-n', String(limit), control.service];
}
