// Arrays of an .npz file: a ZIP archive of .npy members, stored or deflated.

const NUMBERS = { "<f8": Float64Array, "<f4": Float32Array, "<i4": Int32Array, "<i8": BigInt64Array };

/** All members of a file, given as an ArrayBuffer, by name: { data, shape }, or a text. */
export async function readNpz(buffer) {
  const found = {};
  for (const { name, packed, method } of listMembers(buffer)) {
    const bytes = method === 0 ? packed.slice() : await inflate(packed);
    found[name.replace(/\.npy$/, "")] = readNpy(bytes, name);
  }
  return found;
}

function listMembers(buffer) {
  const view = new DataView(buffer), members = [];
  let end = buffer.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("this is no .npz file: it has no directory.");
  let at = view.getUint32(end + 16, true);
  for (let k = view.getUint16(end + 10, true); k > 0; k--) {
    const [length, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const name = new TextDecoder().decode(new Uint8Array(buffer, at + 46, length));
    const method = view.getUint16(at + 10, true), size = view.getUint32(at + 20, true);
    const local = view.getUint32(at + 42, true);
    if (method !== 0 && method !== 8) throw new Error(`${name} is packed in a way that is not known here.`);
    if (size === 0xffffffff || local === 0xffffffff) throw new Error(`${name} is too large for a page.`);
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    members.push({ name, method, packed: new Uint8Array(buffer, begin, size) });
    at += 46 + length + extra + comment;
  }
  return members;
}

async function inflate(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readNpy(bytes, name) {
  const view = new DataView(bytes.buffer);
  if (bytes[0] !== 0x93 || bytes[6] !== 1) throw new Error(`${name} is no .npy of version 1.0.`);
  const length = view.getUint16(8, true);
  const header = new TextDecoder().decode(bytes.subarray(10, 10 + length));
  const kind = /'descr': '([^']*)'/.exec(header)[1];
  const shape = /'shape': \(([^)]*)\)/.exec(header)[1].split(",").filter((word) => word.trim()).map(Number);
  const body = bytes.buffer.slice(10 + length);
  if (kind.startsWith("<U")) {
    const codes = [...new Uint32Array(body)].filter((code) => code > 0);
    return codes.map((code) => String.fromCodePoint(code)).join("");
  }
  const Kind = NUMBERS[kind];
  if (!Kind || header.includes("'fortran_order': True")) throw new Error(`${name} holds ${kind}, which is not known here.`);
  const data = new Kind(body);
  return { data: kind === "<i8" ? Int32Array.from(data, Number) : data, shape };
}
