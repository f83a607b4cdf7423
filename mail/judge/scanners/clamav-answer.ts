import { type Finding, plainWord } from '../../policy/finding.ts';
import { ScanTrouble } from './scanner.ts';

/** What a line of clamd says of a message. Throws {@link ScanTrouble} for what is no such line. */
export function clamavFindings(line: string): readonly Finding[] {
  const said = line.replace(/^stream: /, '');
  if (said === 'OK') return [];
  if (said.endsWith('size limit exceeded. ERROR')) throw new ScanTrouble('it takes no message of this size');
  const signature = /^(\S.*) FOUND$/.exec(said)?.[1];
  if (signature === undefined) throw new ScanTrouble('its answer is none');
  return [findingOf(signature)];
}

/** Signatures that begin so are guesses, or name what is only unwanted: somebody may have sent it on purpose. */
const GUESSES = /^(?:Heuristics|PUA)\./;

function findingOf(signature: string): Finding {
  const name = plainWord(signature);
  if (!GUESSES.test(signature)) {
    const why = `it carries malware: ClamAV calls it ${name}`;
    return { rule: 'clamav', score: 10, why, flag: 'malware', refuse: true };
  }
  const why = `ClamAV finds it suspicious and calls it ${name}`;
  return { rule: 'clamav', score: 5, why, ...(signature.startsWith('Heuristics.Phishing.') && { flag: 'phishing' }) };
}
