/** The last characters are those that tell what it is: what is longer loses its beginning. */
const LONGEST = 1024;
/** Characters that are unpacked: a few octets may stand for many. */
const MOST_UNITS = 16 * LONGEST;

/**
 * The name of a file in a RAR archive of before version 5. With `both` a name in the characters of the machine is followed
 * by a zero and by what is different in Unicode: programs show either, so both are told.
 */
export function rarFileName(octets: Buffer, both: boolean): string[] {
  const zero = both ? octets.indexOf(0) : -1;
  if (!both) return [octets.subarray(-LONGEST).toString('latin1')];
  if (zero < 0) return [octets.subarray(-LONGEST).toString('utf8')];
  const plain = octets.subarray(0, zero);
  const unicode = unpacked(plain, octets.subarray(zero + 1)).slice(-LONGEST);
  const other = plain.subarray(-LONGEST).toString('latin1');
  return unicode === '' || unicode === other ? [other] : [unicode, other];
}

/** Pairs of bits say how the next character stands: in one octet, with the common high one, in two, or as in the plain name. */
function unpacked(plain: Buffer, packed: Buffer): string {
  const units: number[] = [];
  const high = (packed[0] ?? 0) << 8;
  let at = 1;
  const next = (): number => packed[at++] ?? 0;
  for (let flags = 0, left = 0; at < packed.length && units.length < MOST_UNITS; left -= 2) {
    if (left === 0) {
      flags = next();
      left = 8;
    }
    const how = (flags >> (left - 2)) & 3;
    if (how === 0) units.push(next());
    else if (how === 1) units.push(next() | high);
    else if (how === 2) units.push(next() | (next() << 8));
    else {
      const run = next();
      const shift = run < 128 ? undefined : next();
      for (let more = (run & 127) + 2; more > 0; more--) {
        const same = plain[units.length] ?? 0;
        units.push(shift === undefined ? same : ((same + shift) & 255) | high);
      }
    }
  }
  return String.fromCharCode(...units);
}
