export type Rgb = readonly [red: number, green: number, blue: number];

export interface Dye {
  readonly name: string;
  readonly rgb: Rgb;
}

const dye = (name: string, hex: number): Dye => ({
  name,
  rgb: [hex >> 16, (hex >> 8) & 255, hex & 255],
});

export const lights: readonly Dye[] = [
  dye("chalk", 0xf1ece0),
  dye("ecru", 0xe4d8bf),
  dye("oat", 0xd6c4a2),
  dye("flax", 0xcbb994),
  dye("pearl", 0xd5d4d0),
  dye("shell", 0xe8cfc0),
  dye("sky", 0xb7cbd8),
  dye("lichen", 0xc3c9ad),
];

export const darks: readonly Dye[] = [
  dye("ink", 0x22262f),
  dye("navy", 0x24344f),
  dye("indigo", 0x34508a),
  dye("petrol", 0x1f5560),
  dye("bottle", 0x204a3a),
  dye("moss", 0x56632f),
  dye("olive", 0x6f6a33),
  dye("peat", 0x4a372a),
  dye("charcoal", 0x44464a),
  dye("claret", 0x6d2334),
  dye("plum", 0x553352),
  dye("slate", 0x56677a),
];

export const brights: readonly Dye[] = [
  dye("madder", 0xb6412f),
  dye("rust", 0xb5602c),
  dye("saffron", 0xd9a032),
  dye("ochre", 0xc08a3a),
  dye("teal", 0x2f8583),
  dye("cornflower", 0x5579b5),
  dye("heather", 0x8d74a0),
  dye("rose", 0xc47b80),
  dye("sage", 0x87986f),
  dye("brick", 0x9c4a3a),
];
