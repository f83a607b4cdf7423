const LF = 10;

/** Lines of a text without their ends. Empty ones, and those of more than `most` octets, are left out. Constant memory. */
export async function* linesOf(octets: AsyncIterable<Buffer>, most: number): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let length = 0;
  const complete = (last: Buffer): string => {
    const fits = length + last.length <= most;
    const line = fits ? Buffer.concat([...held, last]).toString() : '';
    held = [];
    length = 0;
    return line;
  };
  for await (const chunk of octets) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      const line = complete(chunk.subarray(from, end));
      if (line !== '') yield line;
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    length += rest.length;
    if (length > most) held = [];
    else if (rest.length > 0) held.push(rest);
  }
  const line = complete(Buffer.alloc(0));
  if (line !== '') yield line;
}
