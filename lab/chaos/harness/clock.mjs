// Loaded into services: a signal sets their clock forward by an hour, the next one back by two. What
// a program sees of a clock that is set is `Date`; timers and performance.now() don't follow it.

const hour = 3_600_000;
let offset = 0;
const RealDate = Date;

globalThis.Date = class extends RealDate {
  /** @param {[]} words */
  constructor(...words) {
    if (words.length === 0) super(RealDate.now() + offset);
    else super(...words);
  }

  static now() {
    return RealDate.now() + offset;
  }
};

process.on("SIGUSR2", () => {
  offset = offset > 0 ? -hour : hour;
});
