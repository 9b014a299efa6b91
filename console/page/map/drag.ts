// Drags a procedure on the map to another segment. Uses pointer events, as some browsers can't drag
// buttons. On touch screens a finger scrolls, so the procedure's dialog moves it there.

export interface DragHandlers {
  /** Whether anything can be dragged now. */
  isEnabled(): boolean;
  /** While dragging, the map must not be redrawn. */
  onDrag(isDragging: boolean): void;
  onDrop(fqn: string, segment: string): void;
}

/** How far, in pixels, a pointer may move during a click. */
const clickSlack = 5;

/** Chips have `data-procedure`; an ancestor has the `data-segment`. */
export function enableDrag(stage: HTMLElement, handlers: DragHandlers): void {
  stage.addEventListener("pointerdown", (down) => {
    const chip = closest(down.target, "[data-procedure]");
    if (chip === null || down.button !== 0 || down.pointerType === "touch") return;
    if (!handlers.isEnabled()) return;
    const source = closest(chip, "[data-segment]")?.dataset["segment"];
    const pressed = new AbortController();
    const { signal } = pressed;
    let ghost: HTMLElement | undefined;
    let target: HTMLElement | null = null;

    const aim = (element: HTMLElement | null): void => {
      target?.classList.remove("target");
      target = element?.dataset["segment"] === source ? null : element;
      target?.classList.add("target");
    };
    const begin = (): HTMLElement => {
      const clone = chip.cloneNode(true) as HTMLElement;
      clone.classList.add("ghost");
      clone.setAttribute("aria-hidden", "true");
      stage.append(clone);
      stage.classList.add("dragging");
      handlers.onDrag(true);
      return clone;
    };
    const end = (): void => {
      pressed.abort();
      if (ghost === undefined) return;
      ghost.remove();
      aim(null);
      stage.classList.remove("dragging");
      // The click that ends a drag mustn't open the procedure.
      addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", swallow, { capture: true }));
      handlers.onDrag(false);
    };

    const move = (event: PointerEvent): void => {
      const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
      if (ghost === undefined && Math.hypot(x, y) < clickSlack) return;
      ghost ??= begin();
      ghost.style.transform = `translate(${event.clientX + 8}px, ${event.clientY + 8}px)`;
      const below = document.elementFromPoint(event.clientX, event.clientY);
      aim(closest(below, "[data-segment]"));
    };
    const drop = (): void => {
      const segment = target?.dataset["segment"];
      end();
      if (segment !== undefined) handlers.onDrop(chip.dataset["procedure"] ?? "", segment);
    };
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", drop, { signal });
    addEventListener("pointercancel", end, { signal });
    addEventListener("keydown", (event) => event.key === "Escape" && end(), { signal });
  });
}

function closest(target: EventTarget | null, selector: string): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(selector) : null;
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}
