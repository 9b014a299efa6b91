// Encodes PNGs of at most 256 colours, using only what browsers and Node have in common.

const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** `pixels` holds an index into `palette` (three bytes per colour) for each pixel, row by row. */
export async function encodePng(
  width: number,
  height: number,
  palette: Uint8Array,
  pixels: Uint8Array,
): Promise<Uint8Array> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, 3, 0, 0, 0], 8); // eight bits a point, by palette
  const scan = new Uint8Array((width + 1) * height); // each row begins with its filter: none
  for (let row = 0; row < height; row++)
    scan.set(pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  return join([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", palette),
    chunk("IDAT", await deflate(scan)),
    chunk("IEND", new Uint8Array()),
  ]);
}

async function deflate(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  for (let at = 0; at < 4; at++) bytes[4 + at] = type.charCodeAt(at);
  bytes.set(data, 8);
  let crc = 0xffffffff;
  for (let at = 4; at < data.length + 8; at++)
    crc = crcTable[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  view.setUint32(data.length + 8, ~crc);
  return bytes;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
