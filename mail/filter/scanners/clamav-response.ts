import { type Finding, sanitizeWord } from '../../policy/finding.ts';
import { ScanError } from './scanner.ts';

/** Parses the response line of clamd. Throws {@link ScanError} for anything else. */
export function clamavFindings(line: string): readonly Finding[] {
  const result = line.replace(/^stream: /, '');
  if (result === 'OK') return [];
  if (result.endsWith('size limit exceeded. ERROR'))
    throw new ScanError('the message is larger than its StreamMaxLength');
  const signature = /^(\S.*) FOUND$/.exec(result)?.[1];
  if (signature === undefined) throw new ScanError('invalid response');
  return [findingOf(signature)];
}

/** Prefixes of signatures that are heuristic, or potentially unwanted applications: they may be sent on purpose. */
const GUESSES = /^(?:Heuristics|PUA)\./;

function findingOf(signature: string): Finding {
  const name = sanitizeWord(signature);
  if (!GUESSES.test(signature)) {
    const why = `The message contains malware: ClamAV found ${name}`;
    return { rule: 'clamav', score: 10, why, flag: 'malware', refuse: true };
  }
  const why = `ClamAV found ${name}, which is suspicious`;
  return { rule: 'clamav', score: 5, why, ...(signature.startsWith('Heuristics.Phishing.') && { flag: 'phishing' }) };
}
