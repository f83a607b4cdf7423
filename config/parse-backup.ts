import { formatRecipient, parseIdentity, parseRecipient } from '../mail/backup/backup-identity.ts';
import type { Parse } from './parse.ts';
import type { S3Settings } from './parse-s3.ts';

/** Snapshots that are kept, by period. */
export interface RetentionSetting {
  hourly: number;
  daily: number;
  weekly: number;
  monthly: number;
}

export interface BackupSettings {
  /** Directory, file or `s3://bucket/prefix`. Undefined: backups only by command. */
  readonly target: string | undefined;
  /** 0: no schedule. */
  readonly everyMs: number;
  /** Pause between two copies of new commits; 0: off. */
  readonly continuousMs: number;
  readonly keep: RetentionSetting;
  /** Mebibytes in a second; 0: not bounded. */
  readonly rate: number;
  readonly passphrase: string | undefined;
  readonly passphraseFile: string | undefined;
  /** Public keys that backups are encrypted for; empty: none. */
  readonly recipients: readonly Buffer[];
  /** A private key that opens backups, for commands on another machine than the server. */
  readonly identity: Buffer | undefined;
  readonly identityFile: string | undefined;
  readonly s3: S3Settings;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const MIN_INTERVAL_MS = 60_000;

/** A time such as 30m, 1h or 7d, in ms; "off" is 0. */
export const interval: Parse<number> = (text) => {
  if (text === 'off') return { ok: true, value: 0 };
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const value = Number(count) * (UNITS[unit] ?? 0);
  return value >= MIN_INTERVAL_MS
    ? { ok: true, value }
    : { ok: false, expected: 'a time such as 30m, 1h or 7d, or off' };
};

/** Seconds between two copies of new commits, such as 2s, in ms; "off" is 0. */
export const seconds: Parse<number> = (text) => {
  if (text === 'off') return { ok: true, value: 0 };
  const count = Number(/^(\d{1,2})s$/.exec(text)?.[1] ?? 0);
  return count >= 1 && count <= 60
    ? { ok: true, value: count * 1_000 }
    : { ok: false, expected: 'from 1s to 60s, or off' };
};

/** Numbers of snapshots, such as `hourly:24,daily:7`; a period that is left out has none. */
export const retention: Parse<RetentionSetting> = (text) => {
  const value: RetentionSetting = { hourly: 0, daily: 0, weekly: 0, monthly: 0 };
  for (const part of text.split(',')) {
    const [, period, count] = /^\s*(hourly|daily|weekly|monthly):(\d{1,4})\s*$/.exec(part) ?? [];
    if (period === undefined) return { ok: false, expected: 'numbers such as hourly:24,daily:7,weekly:5,monthly:12' };
    value[period as keyof RetentionSetting] = Number(count);
  }
  return { ok: true, value };
};

export const passphrase: Parse<string> = (text) =>
  text.length >= 12 && !/\p{Cc}/u.test(text)
    ? { ok: true, value: text }
    : { ok: false, expected: 'at least 12 characters long, without control characters' };

/** Recipients separated by commas, each once. */
export const recipients: Parse<readonly Buffer[]> = (text) => {
  const keys = new Map<string, Buffer>();
  for (const part of text.split(',')) {
    const key = parseRecipient(part.trim());
    if (key === undefined) {
      return { ok: false, expected: 'recipients as mailstead backup keygen prints them, separated by commas' };
    }
    keys.set(formatRecipient(key), key);
  }
  return { ok: true, value: [...keys.values()] };
};

export const identity: Parse<Buffer> = (text) => {
  const value = parseIdentity(text);
  return value === undefined
    ? { ok: false, expected: 'an identity as mailstead backup keygen prints it' }
    : { ok: true, value };
};
