/** How a service is run. Given by the operator at the command line: it names programs of the machine. */
export type Control =
  | { kind: 'none' }
  /** Program and arguments; no shell reads them. */
  | { kind: 'command'; command: string[] }
  | { kind: 'systemd'; unit: string }
  /** `file` is the whole path of a compose file. */
  | { kind: 'compose'; file: string; service: string };

/** Reads what was stored after it was checked (src/operations/box/services.ts). */
export function controlOf(text: string): Control {
  return JSON.parse(text) as Control;
}

/** The program that makes a control run what is current now, or restarts it. */
export function applyCommand(control: Extract<Control, { kind: 'systemd' | 'compose' }>): string[] {
  if (control.kind === 'systemd') return ['systemctl', 'restart', '--', control.unit];
  return ['docker', 'compose', '-f', control.file, 'up', '-d', '--force-recreate', '--no-deps', control.service];
}

/** The program that prints the newest `limit` lines of its log. */
export function logCommand(control: Extract<Control, { kind: 'systemd' | 'compose' }>, limit: number): string[] {
  if (control.kind === 'systemd') {
    return ['journalctl', '--no-pager', '-o', 'short-iso', '-n', String(limit), '-u', control.unit];
  }
  return ['docker', 'compose', '-f', control.file, 'logs', '--no-color', '-t', '-n', String(limit), control.service];
}
