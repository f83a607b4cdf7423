const LONGEST = 1024;

/**
 * The name of a file in a RAR archive of before version 5. With `both` a name in the characters of the machine is followed
 * by a zero and by what is different in Unicode: programs show either, so both are told.
 */
export function rarFileName(octets: Buffer, both: boolean): string[] {
  const name = octets.subarray(0, LONGEST);
  const zero = both ? name.indexOf(0) : -1;
  if (!both) return [name.toString('latin1')];
  if (zero < 0) return [name.toString('utf8')];
  const plain = name.subarray(0, zero);
  const unicode = unpacked(plain, name.subarray(zero + 1));
  const other = plain.toString('latin1');
  return unicode === '' || unicode === other ? [other] : [unicode, other];
}

/** Pairs of bits say how the next character stands: in one octet, with the common high one, in two, or as in the plain name. */
function unpacked(plain: Buffer, packed: Buffer): string {
  const units: number[] = [];
  const high = (packed[0] ?? 0) << 8;
  let at = 1;
  const next = (): number => packed[at++] ?? 0;
  for (let flags = 0, left = 0; at < packed.length && units.length < LONGEST; left -= 2) {
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
