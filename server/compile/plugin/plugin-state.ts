// The state that the hooks of one plugin share: whether it is active, the build, and any
// development session.

import type { Environment } from "vite";

import { Problems } from "../../../src/base/problem.ts";
import type { Application } from "../cut/application.ts";
import type { Build } from "../write/build-run.ts";
import { isNoSource } from "../read/package-of.ts";
import type { PluginSession } from "./plugin-session.ts";

export class PluginState {
  readonly build: Build;
  /** Set for `seamline build` and `seamline dev`: replaces the plugin in Vite's configuration. */
  readonly isOwn: boolean;
  #isActive: boolean;
  #development: PluginSession | undefined;

  constructor(build: Build, { isOwn, isActive }: { isOwn: boolean; isActive: boolean }) {
    this.build = build;
    this.isOwn = isOwn;
    this.#isActive = isActive;
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  /** The development session while `vite` serves pages. */
  get development(): PluginSession | undefined {
    return this.#development;
  }

  /** Leaves everything to another plugin. */
  deactivate(): void {
    this.#isActive = false;
  }

  startDevelopment(development: PluginSession): void {
    this.#development = development;
  }

  /** Rejects with {@link Problems} if the application can't be split. */
  async application(environment: Environment): Promise<Application> {
    if (this.#development !== undefined) return await this.#development.application();
    const application = await this.build.reader.application(environment);
    if (application.problems.length > 0) throw new Problems(application.problems);
    return application;
  }

  /**
   * The application for a module that Vite requests. A session without an application still serves
   * Vite's client to pages, which shows the problems.
   */
  async applicationFor(environment: Environment, id: string): Promise<Application | undefined> {
    return await this.application(environment).catch((error: unknown) => {
      if (this.#development !== undefined && isNoSource(id)) return undefined;
      throw error;
    });
  }
}
